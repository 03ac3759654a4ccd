// The engine permits of runs, which namespaces share fairly (domain/pass/permits/fair-permits), and the memory for their state
// (domain/pass/permits/run-memory). Owned by run-permits.ts.

import type { Run } from '../../../domain/model/run.ts'
import { FairPermits } from '../../../domain/pass/permits/fair-permits.ts'
import { RunMemory } from '../../../domain/pass/permits/run-memory.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { LeftRun, RunClaim } from '../../../ports/store.ts'
import { Returns } from '../../support/permits.ts'

/**
 * While runs wait for permits, a claim for each freed permit would cost more than the passes. The lane is woken when this part
 * of the permits is free, or this long after the first one.
 */
const ROOM_PART = 1 / 16
const ROOM_DELAY_MS = 5

type OfApp = Pick<Run, 'namespace' | 'app'>

/** The parts of a run under way that concern its memory. */
export interface PermitOwner {
  state: { readonly run: OfApp; readonly size: number }
  /** The memory that it has taken. */
  bytes: number
  /** Whether it gives its memory back when its pass is over. */
  isLeaving?: boolean
}

export interface EnginePermitsOptions {
  clock: Clock
  /** Maximum runs under way at once; beyond this there is a reserve (domain/pass/permits/fair-permits). */
  passesMax: number
  /** Bytes for the state of the runs under way. */
  stateBytesMax: number
  /** Called when runs that a claim left in the store may have room. */
  onRoom(): void
  /** Called when a run has given back its permit and memory. */
  onReturn(): void
}

export class EnginePermits {
  readonly #options: EnginePermitsOptions
  readonly #permits: FairPermits
  readonly #memory: RunMemory
  readonly #returns = new Returns()
  #cancelWake: (() => void) | undefined
  /** Permits that became free since the last claim, while runs wait for some. */
  #freed = 0
  /** Whether the last claim may have left runs for lack of a permit. */
  #isShortOfPermits = false
  /** The runs that the last claim left for lack of memory, with the sizes of their states. */
  #left = new Map<string, number>()
  /** Memory became free after the bounds of the claim under way were read. */
  #hasFreedMemory = false

  constructor(options: EnginePermitsOptions) {
    this.#options = options
    this.#permits = new FairPermits(options.passesMax)
    this.#memory = new RunMemory(options.stateBytesMax)
  }

  /** How many permits are free for all; beyond this there is a reserve (domain/pass/permits/fair-permits). */
  get max(): number {
    return this.#permits.max
  }

  /** Whether all permits below the reserve are in use. */
  get isFull(): boolean {
    return this.inUse >= this.max
  }

  get inUse(): number {
    return this.#permits.taken
  }

  /** The maximum number of runs in a claim. */
  get room(): number {
    return this.#memory.hasRoom(0) ? this.#permits.room : 0
  }

  /** The memory for the state of runs in bytes, the used part of it, and the number of runs that wait for memory. */
  get memory(): { max: number; used: number; waiting: number } {
    return { max: this.#memory.max, used: this.#memory.used, waiting: this.#left.size }
  }

  /** The bytes of the run's state, if the run waits in the store for memory. */
  waitsForMemory(runId: string): number | undefined {
    return this.#left.get(runId)
  }

  /** Whether runs have outgrown the memory. */
  get isExceeded(): boolean {
    return this.#memory.isExceeded
  }

  /** Whether the last claim may have left runs. */
  get isShort(): boolean {
    return this.#isShortOfPermits || this.#left.size > 0
  }

  /** False when there is no permit for a run of the app, or no memory for its state. Every success needs one `giveBack`. */
  tryTake({ namespace, app }: OfApp, bytes: number): boolean {
    if (!this.#permits.hasRoom(namespace, app) || !this.#memory.hasRoom(bytes)) return false
    // The large runs that wait go first.
    if (this.#left.size > 0 && bytes > this.#memory.smallMax) return false
    this.take({ namespace, app }, bytes)
    return true
  }

  /** Takes a permit and memory for a claimed run; needs one `giveBack` too. */
  take({ namespace, app }: OfApp, bytes: number): void {
    this.#permits.take(namespace, app)
    this.#memory.take(bytes)
  }

  /** Adjusts the memory of a run whose state may have another size now. */
  resize(owner: PermitOwner): void {
    const { bytes, state } = owner
    if (state.size === bytes) return
    this.#memory.giveBack(bytes)
    this.#memory.take(state.size)
    owner.bytes = state.size
    if (!owner.isLeaving) return
    this.#memory.left(bytes)
    this.#memory.leaves(state.size)
  }

  /** Whether the run must end its pass and wait in the store, because runs have outgrown the memory. */
  mustLeave(owner: PermitOwner): boolean {
    if (owner.isLeaving || !this.#memory.mustLeave(owner.bytes)) return owner.isLeaving === true
    owner.isLeaving = true
    this.#memory.leaves(owner.bytes)
    return true
  }

  /** Gives back the permit and memory of a run that is no longer under way. */
  leave({ state, bytes, isLeaving }: PermitOwner): void {
    if (isLeaving) this.#memory.left(bytes)
    this.giveBack(state.run, bytes)
  }

  giveBack({ namespace, app }: OfApp, bytes: number): void {
    this.#permits.giveBack(namespace, app)
    this.#memory.giveBack(bytes)
    this.#hasFreedMemory = true
    this.#options.onReturn()
    this.#returns.notify()
    if (this.#mayLoad()) this.#wake()
    if (!this.#isShortOfPermits) return
    if (++this.#freed >= this.#permits.max * ROOM_PART) this.#wake()
    else this.#cancelWake ??= this.#options.clock.after(ROOM_DELAY_MS, () => this.#wake())
  }

  /** The bounds of a claim that is made now. */
  claimBounds(): Required<Pick<RunClaim, 'permits' | 'memory'>> {
    this.#hasFreedMemory = false
    return { permits: { max: this.#permits.max, taken: this.#permits.list() }, memory: this.#memory.inUse() }
  }

  /** Records that a claim took this many runs, none of which has taken its permit yet, and left others for lack of memory. */
  claimed(count: number, left: readonly LeftRun[]): void {
    this.#isShortOfPermits = this.#permits.taken + count >= this.#permits.max
    if (left.length > 0 || this.#left.size > 0) this.#left = new Map(left.map(({ id, bytes }) => [id, bytes]))
    this.#freed = 0
    if (this.#hasFreedMemory && this.#mayLoad()) this.#wake()
  }

  /** Resolves when a claim may take runs, or on abort. */
  waitForRoom(signal: AbortSignal): Promise<void> {
    return this.#returns.until(() => this.room > 0, signal)
  }

  /** Resolves when no run is under way. */
  waitUntilIdle(): Promise<void> {
    return this.#returns.until(() => this.inUse === 0)
  }

  /** Whether there is now memory for a run that was left. */
  #mayLoad(): boolean {
    if (this.#left.size === 0) return false
    for (const bytes of this.#left.values()) if (this.#memory.hasRoom(bytes)) return true
    return false
  }

  #wake(): void {
    this.#cancelWake?.()
    this.#cancelWake = undefined
    this.#isShortOfPermits = false
    this.#options.onRoom()
  }
}
