// Leases and keeping alive those of the runs under way here.

import type { Clock } from '../../ports/clock.ts'
import type { Metrics } from '../../ports/metrics.ts'
import type { Store } from '../../ports/store.ts'
import { type Driver, LEASE_MS } from './drive.ts'

const EXTEND_EVERY_MS = 5_000

export interface LeaseKeeperDeps {
  store: Store
  clock: Clock
  driver: Pick<Driver, 'leases' | 'interrupt'>
  metrics: Metrics
  /** Name of this engine in the leases it holds. */
  owner: string
  onError(error: unknown): void
}

/** Extends every lease under way from time to time, until stopped. A lease that was lost interrupts its pass. */
export class LeaseKeeper {
  readonly #deps: LeaseKeeperDeps
  #stopTimer: () => void = () => {}
  #stopped = false

  constructor(deps: LeaseKeeperDeps) {
    this.#deps = deps
  }

  start(): void {
    this.#schedule()
  }

  stop(): void {
    this.#stopped = true
    this.#stopTimer()
  }

  #schedule(): void {
    const { clock, onError } = this.#deps
    if (this.#stopped) return
    this.#stopTimer = clock.at(clock.now() + EXTEND_EVERY_MS, () => {
      void this.#extend()
        .catch(onError)
        .finally(() => this.#schedule())
    })
  }

  async #extend(): Promise<void> {
    const { store, clock, driver, metrics, owner } = this.#deps
    const until = clock.now() + LEASE_MS
    // Runs leased a moment ago need nothing yet: most are over before their first extension.
    const old = [...driver.leases].filter(
      ({ state }) => (state.run.availableAt ?? 0) < until - EXTEND_EVERY_MS / 2,
    )
    if (old.length === 0) return
    const held = old.map(({ state }) => ({ runId: state.run.id, fence: state.run.fence }))
    const ids = held.map(({ runId }) => runId)
    const lost = new Set(await store.extendRuns(owner, ids, until))
    for (const [i, active] of old.entries()) {
      const { runId, fence } = held[i] as { runId: string; fence: number }
      // A fence that moved meanwhile was moved by our own commit, or by somebody the next commit will meet.
      if (active.state.run.id !== runId || active.state.run.fence !== fence) continue
      if (lost.has(runId)) {
        metrics.leaseLost()
        driver.interrupt(runId)
      } else active.state.run.availableAt = until
    }
  }
}
