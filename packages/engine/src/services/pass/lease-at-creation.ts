// Leases newly created runs in the same commit that creates them, as many as there is room for. No second transaction claims
// them, and their first passes are sent the moment they are durable. Used by ingest and by the driver.

import type { Change } from '../../domain/model/change.ts'
import type { Run } from '../../domain/model/run.ts'
import { firstSeq } from '../../domain/model/seq.ts'
import { inputSize } from '../../domain/run/state.ts'
import type { Core } from '../commit/core.ts'
import type { EngineHold } from '../support/engine-hold.ts'
import { RUN_LEASE_MS } from './leases.ts'
import type { RunPermits } from './permits/run-permits.ts'
import type { RunnerPermit } from './permits/runner-permits.ts'

export interface LeaseAtCreationDeps extends Core {
  permits: Pick<RunPermits, 'tryTakeNew' | 'giveBackNew'>
  /** A held engine leases nothing. */
  hold: Pick<EngineHold, 'isHeld'>
  /** `leasedAt`: by the monotonic clock. */
  start(run: Run, permit: RunnerPermit, leasedAt: number): void
}

interface Leased {
  run: Run
  permit: RunnerPermit
}

/** Shared by all units that lease nothing, which is nearly all of them; never added to. */
const NONE: Leased[] = []

/** The leases of one unit. Call `lease` before each try to commit, `start` after success, `release` always. */
export class LeaseAtCreation {
  readonly #deps: LeaseAtCreationDeps
  #leased: Leased[] = NONE
  /** Before the try to commit, by the monotonic clock. */
  #leasedAt = 0

  constructor(deps: LeaseAtCreationDeps) {
    this.#deps = deps
  }

  /** Leases as many of the runs that these changes create as it can, and releases the leases of an earlier, stale try. */
  lease(changes: readonly Change[]): void {
    this.release()
    const { clock, owner, hold } = this.#deps
    if (hold.isHeld) return
    // Read again at each try: the runs of a later try may be younger.
    const now = clock.now()
    this.#leasedAt = clock.elapsed()
    for (const change of changes) {
      if (change.type !== 'run.created' || !isFresh(change.run) || this.#isPaused(change.run)) continue
      const permit = this.#tryTake(change.run)
      if (!permit) continue
      Object.assign(change.run, {
        status: 'running',
        startedAt: now,
        startedSeq: firstSeq(0) + 1,
        leaseOwner: owner,
        availableAt: now + RUN_LEASE_MS,
      } satisfies Partial<Run>)
      if (this.#leased === NONE) this.#leased = []
      this.#leased.push({ run: change.run, permit })
    }
  }

  /**
   * The unit is durable: sends the first passes. If the commit took longer than the leases last, the lane may have claimed the
   * runs already and now drives them.
   */
  start(): void {
    const { clock, start } = this.#deps
    for (const { run, permit } of this.#leased) {
      if (clock.elapsed() - this.#leasedAt < RUN_LEASE_MS) start(run, permit, this.#leasedAt)
      else this.#giveBack({ run, permit })
    }
    this.#leased = NONE
  }

  /** Gives back the permits of a unit that did not become durable. */
  release(): void {
    for (const leased of this.#leased) this.#giveBack(leased)
    this.#leased = NONE
  }

  /** A run of a paused workflow is created waiting for its resume. */
  #isPaused(run: Run): boolean {
    const { namespace, app, workflow } = run
    if (!this.#deps.catalog.view(namespace).isPaused(app, workflow)) return false
    run.waitingFor = { kind: 'workflow-paused' }
    return true
  }

  /** A run for which no runner has room is created waiting for it, and claimed when there is room. */
  #tryTake(run: Run): RunnerPermit | undefined {
    const taken = this.#deps.permits.tryTakeNew(run, inputSize(run))
    if (taken === 'full') run.waitingFor = { kind: 'runner' }
    return typeof taken === 'string' ? undefined : taken
  }

  #giveBack({ run, permit }: Leased): void {
    this.#deps.permits.giveBackNew(run, inputSize(run), permit)
  }
}

/**
 * Forks may carry steps, and a child may be created cancelled: the lane claims those like any other run. The same holds for
 * runs with slots or a throttle, since only claims count the holders of slots. A run that starts later is not due yet.
 */
function isFresh({ status, replayOf, cancelRequested, holds, startAt }: Run): boolean {
  if (startAt !== undefined || cancelRequested) return false
  return status === 'queued' && replayOf === undefined && !holds?.slots && !holds?.throttle
}
