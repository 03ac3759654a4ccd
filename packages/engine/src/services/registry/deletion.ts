// Deletes workflows and apps (docs/operating.md#deleting-workflows-and-apps). Called by the HTTP routes. An event that arrives
// meanwhile is decided before the deletion, and then the deletion is refused, or after it. The catalog's revision guards both.

import type { Change, Unit } from '../../domain/model/change.ts'
import { EngineError, invariant } from '../../domain/model/errors.ts'
import type { WorkflowName } from '../../domain/model/event.ts'
import type { Runner } from '../../domain/model/workflow.ts'
import { type DeletionOptions, deletedApp, deletedWorkflow } from '../../domain/registry/deletion.ts'
import type { Act, Actor } from '../commit/audit.ts'
import type { Core } from '../commit/core.ts'
import { decideAndCommit } from '../commit/decide-and-commit.ts'
import { KeyMutex } from '../support/key-mutex.ts'

/** Idempotency keys in one transaction, which takes some milliseconds of the writer's time. */
const CLAIMS_AT_ONCE_MAX = 250

export interface DeletionDeps extends Pick<Core, 'store' | 'catalog' | 'announcer' | 'clock' | 'log' | 'audit'> {
  isLive(runner: Runner): boolean
}

export class Deletion {
  readonly #deps: DeletionDeps
  readonly #mutex = new KeyMutex()

  constructor(deps: DeletionDeps) {
    this.#deps = deps
  }

  /**
   * Deletes a workflow with its schedules, buffers and idempotency keys.
   * @throws EngineError `not_found`; `conflict` while runs are in flight, or a live runner serves it and `isForced` is not set.
   */
  workflow(actor: Actor, workflow: WorkflowName, isForced: boolean): Promise<void> {
    const { app, name } = workflow
    const detail = JSON.stringify({ app, workflow: name, ...(isForced ? { force: true } : {}) })
    const act = { action: 'workflow.delete', detail } as const
    return this.#delete(actor, act, isForced, options => deletedWorkflow(workflow, options))
  }

  /** Deletes an app with its workflows and runners, under the same conditions. */
  app(actor: Actor, app: string, isForced: boolean): Promise<void> {
    const detail = JSON.stringify({ app, ...(isForced ? { force: true } : {}) })
    return this.#delete(actor, { action: 'app.delete', detail }, isForced, options => deletedApp(app, options))
  }

  /**
   * Removes the idempotency keys. Keys that stay after a failure have no effect without the workflow, and are removed when they
   * expire.
   */
  async #dropClaims(changes: readonly Change[]): Promise<void> {
    const { store, clock, log } = this.#deps
    // Events of this same millisecond came before the deletion too.
    const before = clock.now() + 1
    try {
      for (const change of changes) {
        if (change.type !== 'workflow.deleted') continue
        const { namespace, app, name: workflow } = change
        const claims = { namespace, app, workflow, before, limit: CLAIMS_AT_ONCE_MAX }
        while ((await store.dropClaims(claims)) === CLAIMS_AT_ONCE_MAX);
      }
    } catch (err) {
      log.error({ err }, 'idempotency keys of a deleted workflow could not be removed')
    }
  }

  async #delete(actor: Actor, act: Act, isForced: boolean, decide: (options: DeletionOptions) => Unit): Promise<void> {
    const { store, catalog, announcer, isLive, audit } = this.#deps
    const release = await this.#mutex.acquire('deletion')
    const isShared = catalog.revision !== undefined
    let endGuard = () => {}
    const guardAnew = async () => {
      endGuard()
      if (isShared) await catalog.refresh()
      else endGuard = catalog.guardBy(await store.catalogRevision())
    }
    try {
      await guardAnew()
      const deleted = await decideAndCommit<Unit>({
        store,
        decide: () => {
          const { guards, changes } = decide({ view: catalog.view(actor.namespace), isLive, isForced })
          return { guards: [{ type: 'catalog', revision: catalog.revision as number }, ...guards], changes }
        },
        commit: unit => audit.commit(actor, unit, act),
        onStale: async ({ type }) => {
          if (type === 'idle')
            throw new EngineError('conflict', 'runs are in flight: wait for them to end, or cancel them')
          await guardAnew()
          return true
        },
      })
      invariant(deleted, 'a deletion is decided or refused')
      catalog.apply(deleted.changes)
      announcer.announce(deleted.changes)
      await this.#dropClaims(deleted.changes)
    } finally {
      endGuard()
      release()
    }
  }
}
