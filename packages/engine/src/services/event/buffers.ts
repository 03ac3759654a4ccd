// Open buffers of debounce and batch (docs/flow-control.md#bursts-and-batches-under-way): starts the run of a buffer before it
// is due. Called by the HTTP routes.

import { bufferView, decideDueBuffer } from '../../domain/arrival/buffer.ts'
import type { DueRowDecision } from '../../domain/arrival/due-row.ts'
import { EngineError, invariant } from '../../domain/model/errors.ts'
import type { FlowRow } from '../../domain/model/flow-row.ts'
import { catalogGuards } from '../../domain/run/assumptions.ts'
import type { Actor } from '../commit/audit.ts'
import type { Core } from '../commit/core.ts'
import { decideAndCommit } from '../commit/decide-and-commit.ts'

type BuffersDeps = Pick<Core, 'store' | 'catalog' | 'namespaces' | 'announcer' | 'clock' | 'audit' | 'report'>

export class Buffers {
  readonly #deps: BuffersDeps

  constructor(deps: BuffersDeps) {
    this.#deps = deps
  }

  /**
   * Starts the run of a buffer now and returns the run's id. The timers lane, or events that fill the buffer, may do the same
   * at this moment; the version of the row ensures that each buffer becomes one run.
   * @throws EngineError `not_found` if there is no such buffer, or no longer; `namespace_suspended`; `conflict` if its workflow
   * is not registered.
   */
  async flush(actor: Actor, id: string): Promise<{ runId: string }> {
    const { store, catalog, announcer, clock, report, namespaces, audit } = this.#deps
    const { namespace } = actor
    namespaces.assertActive(namespace)
    const found = await store.flowRow(id)
    if (!found || found.namespace !== namespace || !bufferView(found)) throw notFound()
    await catalog.refresh()
    const flushed = await decideAndCommit<DueRowDecision>({
      store,
      namespace,
      catalog,
      decide: assumptions => {
        // An event or the timers lane may have changed or deleted the row since it was read.
        const row = assumptions.flow.has(id) ? assumptions.flow.get(id) : found
        if (!row) throw notFound()
        const view = catalog.view(namespace)
        const workflow = view.workflow(row.app, row.workflow)
        if (!workflow) throw new EngineError('conflict', 'the workflow of the buffer is not registered')
        const facts = { suspended: false, catalog: view, assumptions, now: clock.now(), report }
        const due = { row, workflow, ...facts, isFlushed: true } as const
        const decided = decideDueBuffer(due)
        return decided && { ...decided, guards: [...decided.guards, ...catalogGuards(view, assumptions)] }
      },
      commit: unit => audit.commit(actor, unit, actOf(found, runIdOf(unit))),
      onStale: () => true,
    })
    invariant(flushed, 'a flush always starts a run or is refused')
    announcer.announce(flushed.changes)
    return { runId: runIdOf(flushed) }
  }
}

/** The key is left out, since it is a part of a payload and the entry stays when the run is erased. */
function actOf({ id, app, workflow, policy }: FlowRow, newRunId: string) {
  const detail = JSON.stringify({ id, app, workflow, kind: policy })
  return { action: 'buffer.flush', newRunId, detail } as const
}

function runIdOf({ changes }: Pick<DueRowDecision, 'changes'>): string {
  const created = changes.find(change => change.type === 'run.created')
  invariant(created, 'a buffer that is flushed becomes a run')
  return created.run.id
}

function notFound(): EngineError {
  return new EngineError('not_found', 'no such buffer: it may have become a run')
}
