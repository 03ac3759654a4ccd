// Erases a finished run for good (docs/concepts.md#erasing-a-run). Called by the HTTP routes.

import type { Unit } from '../../domain/model/change.ts'
import { EngineError } from '../../domain/model/errors.ts'
import { isTerminal } from '../../domain/model/run.ts'
import { ownBudget } from '../../domain/run/budget/budgets.ts'
import { endedEventId } from '../../domain/run/later/ended-event.ts'
import { shownRunId } from '../../domain/text/ids.ts'
import type { Actor } from '../commit/audit.ts'
import type { Core } from '../commit/core.ts'
import { decideAndCommit } from '../commit/decide-and-commit.ts'

export type ErasureDeps = Pick<Core, 'store' | 'announcer' | 'clock' | 'audit'>

export class Erasure {
  readonly #deps: ErasureDeps

  constructor(deps: ErasureDeps) {
    this.#deps = deps
  }

  /** @throws EngineError `not_found`, `run_not_finished`, or `conflict` while a cleanup run of it has not ended. */
  async erase(actor: Actor, runId: string): Promise<void> {
    const { store, announcer, audit } = this.#deps
    const erased = await decideAndCommit<Unit>({
      store,
      decide: () => this.#decide(actor.namespace, runId),
      commit: unit => audit.commit(actor, unit, { action: 'run.erase', runId }),
      onStale: () => true,
    })
    if (erased) announcer.announce(erased.changes)
  }

  async #decide(namespace: string, runId: string): Promise<Unit> {
    const { store, clock } = this.#deps
    const run = await store.in(namespace).run(runId)
    if (!run) throw new EngineError('not_found', `There is no run ${shownRunId(runId)}.`)
    const { status, fence, trigger, eventIds: buffered = [], continuedFrom } = run
    if (!isTerminal(status)) {
      const message = `Run ${shownRunId(runId)} is ${status}: only a finished run can be erased.`
      throw new EngineError('run_not_finished', message, { details: { status } })
    }
    const { liveRunId } = await store.in(namespace).cleanups(runId)
    if (liveRunId !== undefined) {
      const cleanupRunId = shownRunId(liveRunId)
      const message = `Run ${cleanupRunId} is still cleaning up after run ${shownRunId(runId)}: wait for it to end.`
      throw new EngineError('conflict', message, { details: { cleanupRunId } })
    }
    // A fork, and a run that follows a failure, name the event of their source in their trigger.
    const named = [...new Set([...(trigger.id === undefined ? [] : [trigger.id]), ...buffered])]
    // A run that continues another has its own data, and nothing of the event.
    const events = continuedFrom === undefined ? named : []
    // The event of its end has its result.
    const eventIds = [...events, endedEventId(run)]
    const budgetId = ownBudget(run)?.id
    const erased = { type: 'run.erased', namespace, runId, budgetId, eventIds, at: clock.now() } as const
    return { guards: [{ type: 'run', runId, fence }], changes: [erased] }
  }
}
