// The leases of runs: how long one lasts, and the service that extends those of the runs under way here. The store has the end
// of a lease as a wall time. The owner uses its monotonic clock, so setting the wall clock ends no lease.

import type { Core } from '../commit/core.ts'
import { RepeatingTask } from '../support/repeating-task.ts'
import type { ActiveRun } from './active-run.ts'

/** A lease that is not extended ends after this time, and any engine may claim the run. */
export const RUN_LEASE_MS = 15_000
const RUN_LEASE_EXTEND_EVERY_MS = 5000

export interface LeaseKeeperDeps extends Pick<Core, 'store' | 'clock' | 'metrics' | 'owner'> {
  driver: { readonly activeRuns: Iterable<ActiveRun>; interrupt(runId: string): void }
  /** Called for each failure, not only the first of a series: leases run out soon. */
  onError(error: unknown): void
}

/** Extends the leases under way from time to time. A lost lease interrupts its pass. */
export class LeaseKeeper extends RepeatingTask {
  readonly #deps: LeaseKeeperDeps

  constructor(deps: LeaseKeeperDeps) {
    const { clock, onError } = deps
    const run = () => this.#extend().catch(error => void (this.stopped.aborted || onError(error)))
    super({ clock, everyMs: RUN_LEASE_EXTEND_EVERY_MS, run, onFailure: onError })
    this.#deps = deps
  }

  async #extend(): Promise<void> {
    const { store, clock, driver, metrics, owner } = this.#deps
    const now = clock.elapsed()
    // A run leased a moment ago needs no extension yet: most runs park or end before their first one. An ended run has no
    // lease, but may still get an answer.
    const old = [...driver.activeRuns].filter(
      ({ leasedAt, late }) => !late && now - leasedAt > RUN_LEASE_EXTEND_EVERY_MS / 2,
    )
    if (old.length === 0) return
    const owned = old.map(({ state }) => ({ runId: state.run.id, fence: state.run.fence }))
    const ids = owned.map(({ runId }) => runId)
    const until = clock.now() + RUN_LEASE_MS
    const lost = new Set(await store.extendRuns(owner, ids, until))
    for (const [i, active] of old.entries()) {
      const { runId, fence } = owned[i] as { runId: string; fence: number }
      // If the fence rose since, this engine's own commit raised it, or the next commit will find that an outsider did.
      if (active.state.run.id !== runId || active.state.run.fence !== fence) continue
      if (lost.has(runId)) {
        metrics.leaseLost()
        // Another engine has the run, or has ended it, and the message about that was lost.
        driver.interrupt(runId)
      } else {
        active.state.run.availableAt = until
        active.leasedAt = now
      }
    }
  }
}
