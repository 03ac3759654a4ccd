// The permits of runs: an engine permit while a run is under way, and a runner permit for each pass. A run gets both here,
// whether it is claimed or leased at its creation. Owned by the driver.

import type { Run } from '../../../domain/model/run.ts'
import type { LeftRun } from '../../../ports/store.ts'
import { ClaimPermits, type ClaimPermitsDeps } from './claim-permits.ts'
import { EnginePermits, type EnginePermitsOptions } from './engine-permits.ts'
import { NONE_TRIED, type RunnerPermit, RunnerPermits, type RunnerPermitsDeps } from './runner-permits.ts'

export type RunPermitsDeps = EnginePermitsOptions & RunnerPermitsDeps & Omit<ClaimPermitsDeps, 'permits'>

type Bounds = ReturnType<RunPermits['claimBounds']>

export class RunPermits {
  readonly engine: EnginePermits
  readonly runners: RunnerPermits
  readonly #claims: ClaimPermits
  readonly #clock: RunPermitsDeps['clock']
  #hasStopped = false

  constructor(deps: RunPermitsDeps) {
    this.#clock = deps.clock
    this.engine = new EnginePermits(deps)
    this.runners = new RunnerPermits(deps)
    this.#claims = new ClaimPermits({ ...deps, permits: this.runners })
  }

  /**
   * Takes both permits for a run that is being created. Such a run does not go before the runs that wait in the store. `full`:
   * no runner for it has room. `none`: it is left to a claim for another reason. `giveBackNew` follows unless the run starts.
   */
  tryTakeNew(run: Run, bytes: number): RunnerPermit | 'none' | 'full' {
    if (this.#hasStopped) return 'none'
    const taken = this.runners.tryTake(run, NONE_TRIED)
    if (taken === 'full') this.#claims.runWaits(run)
    if (typeof taken === 'string') return taken
    const isContested = this.#claims.isContested(run)
    if (!isContested && this.engine.tryTake(run, bytes)) return taken
    taken.giveBack()
    return isContested ? 'full' : 'none'
  }

  giveBackNew(run: Run, bytes: number, permit: RunnerPermit): void {
    this.engine.giveBack(run, bytes)
    permit.giveBack()
  }

  /** The bounds of a claim that is made now. */
  claimBounds() {
    return { ...this.#claims.claimBounds(), ...this.engine.claimBounds() }
  }

  /** Records that a claim within these bounds took these runs, and left others for lack of memory. */
  claimed(runs: readonly Run[], { bounds, left }: { bounds: Bounds; left: readonly LeftRun[] }): void {
    this.#claims.claimed(runs, bounds)
    this.engine.claimed(runs.length, left)
  }

  /** Whether the last claim may have left due runs for lack of a permit. */
  get isShort(): boolean {
    return this.engine.isShort || this.#claims.isShort
  }

  /** Records that no runner has room for the run: it waits in the store. */
  runWaits(run: Run): void {
    this.#claims.runWaits(run)
  }

  /** Whether the run, or its next pass, could be sent now if a runner had room. */
  waitsForRunnerRoom(run: Run): boolean {
    if (run.leaseOwner !== undefined) return this.runners.has(run.id)
    const isDue = (run.availableAt ?? Number.POSITIVE_INFINITY) <= this.#clock.now()
    return isDue && run.status !== 'paused' && this.runners.fullRunner(run) !== undefined
  }

  /** The runner may have room for more, or is gone. `isForPeer`: another engine gets the first room. */
  runnerRoomChanged(url: string, isForPeer: boolean): void {
    if (isForPeer) this.runners.takeForPeer(url)
    this.runners.roomChanged(url)
    this.#claims.roomChanged(url)
  }

  /** Gives no more permits to new runs or to waiting passes. */
  stop(): void {
    this.#hasStopped = true
    this.runners.withdrawAll()
    this.#claims.stop()
  }
}
