// Fires flow-control rows that are due: schedules start their runs, buffers of debounce and batch become runs, delayed events
// and events of the engine arrive, bulk actions process their next slice. The lease only keeps other engines from trying at the
// same time; the row's version ensures that a row fires once however often it is claimed.

import { decideDueRow } from '../../domain/arrival/decide-due-row.ts'
import type { DueRowDecision } from '../../domain/arrival/due-row.ts'
import { EngineError } from '../../domain/model/errors.ts'
import type { FlowRow } from '../../domain/model/flow-row.ts'
import { catalogGuards } from '../../domain/run/assumptions.ts'
import type { Core } from '../commit/core.ts'
import { decideAndCommit } from '../commit/decide-and-commit.ts'
import { Permits } from '../support/permits.ts'
import type { Stoppable } from '../support/service.ts'
import type { Ingest } from './ingest.ts'
import type { Schedules } from './schedules.ts'

/** Far longer than the single commit that fires a row. */
export const TIMER_LEASE_MS = 15_000

export interface TimersDeps extends Pick<Core, 'store' | 'catalog' | 'announcer' | 'clock' | 'log' | 'report'> {
  ingest: Pick<Ingest, 'arrive'>
  schedules: Pick<Schedules, 'arrive'>
  /** Processes a slice of a bulk action. */
  bulk(row: FlowRow): Promise<void>
  /** Maximum rows under way at once. */
  timersMax: number
}

export class Timers implements Stoppable {
  readonly #deps: TimersDeps
  readonly permits: Permits

  constructor(deps: TimersDeps) {
    this.#deps = deps
    this.permits = new Permits(deps.timersMax)
  }

  /** Fires a row that the lane has claimed. */
  accept(row: FlowRow): void {
    this.permits.take()
    void this.#carryOut(row)
      .catch(error => {
        const { log } = this.#deps
        // A delayed event for a full inbox.
        if (error instanceof EngineError)
          log.warn({ ...nameOf(row), reason: error.message }, 'a timer was refused, and will be retried')
        else log.error({ err: error, ...nameOf(row) }, 'a timer was dropped; its lease will run out')
      })
      .finally(() => this.permits.giveBack())
  }

  /** Resolves when no row is under way; each row takes one commit. */
  stop(): Promise<void> {
    return this.permits.waitUntilIdle()
  }

  #carryOut(row: FlowRow): Promise<void> {
    if (row.policy === 'event' || row.policy === 'ended') return this.#deps.ingest.arrive(row)
    if (row.policy === 'schedule') return this.#deps.schedules.arrive(row)
    if (row.policy === 'bulk') return this.#deps.bulk(row)
    return this.#fire(row)
  }

  async #fire(claimed: FlowRow): Promise<void> {
    const { store, catalog, announcer, clock, log, report } = this.#deps
    const { id, namespace, app, workflow } = claimed
    const firing = await decideAndCommit<DueRowDecision>({
      store,
      namespace,
      catalog,
      decide: assumptions => {
        // An event or a registration may have changed or deleted the row since it was claimed.
        const row = assumptions.flow.has(id) ? assumptions.flow.get(id) : claimed
        if (!row) return undefined
        const view = catalog.view(namespace)
        const registered = view.workflow(app, workflow)
        const { suspended } = view
        const due = { row, workflow: registered, suspended, catalog: view, assumptions }
        const fired = decideDueRow({ ...due, now: clock.now(), report })
        return fired && { ...fired, guards: [...fired.guards, ...catalogGuards(view, assumptions)] }
      },
      onStale: () => false,
    })
    if (!firing) return
    if (firing.dropped !== undefined) log.warn({ ...nameOf(claimed), reason: firing.dropped }, 'a timer was dropped')
    announcer.announce(firing.changes)
  }
}

function nameOf({ namespace, app, workflow, policy, key }: FlowRow) {
  return { namespace, app, workflow, policy, key }
}
