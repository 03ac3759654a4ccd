// The permits that this engine has for runs, shared fairly by namespaces (domain/pass/permits/fair-permits), and the memory for
// their state (domain/pass/permits/run-memory). Kept by run-permits.ts.

import type { Run } from '../../../domain/model/run.ts'
import { FairPermits } from '../../../domain/pass/permits/fair-permits.ts'
import { RunMemory } from '../../../domain/pass/permits/run-memory.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { LeftRun, RunClaim } from '../../../ports/store.ts'
import { Returns } from '../../support/permits.ts'

/**
 * When runs wait for permits, a claim for each one that becomes free would cost more than the passes. The lane is woken for this
 * part of the permits, or this long after the first.
 */
const ROOM_PART = 1 / 16
const ROOM_DELAY_MS = 5

type OfApp = Pick<Run, 'namespace' | 'app'>

/** A run under way, as far as its memory is concerned. */
export interface PermitOwner {
  state: { readonly run: OfApp; readonly size: number }
  /** The memory that it has taken. */
  bytes: number
  /** It gives its memory back when its pass is over. */
  isLeaving?: boolean
}

export interface EnginePermitsOptions {
  clock: Clock
  /** Runs that may be under way at once; beyond it, there is a reserve (domain/pass/permits/fair-permits). */
  passesMax: number
  /** Bytes for the state of the runs under way. */
  stateBytesMax: number
  /** Called when runs that a claim left in the store may have room. */
  onRoom(): void
  /** Called when a run has given back what it had. */
  onReturn(): void
}

export class EnginePermits {
  readonly #permits: FairPermits
  readonly #memory: RunMemory
  readonly #onRoom: () => void
  readonly #onReturn: () => void
  readonly #returns = new Returns()
  readonly #clock: Clock
  #cancelWake: (() => void) | undefined
  /** Permits that became free since the last claim, while runs wait for some. */
  #freed = 0
  /** Whether the last claim may have left runs for lack of a permit. */
  #isShortOfPermits = false
  /** The runs that the last claim left for lack of memory, with the sizes of their states. */
  #left = new Map<string, number>()
  /** Memory became free after the bounds of the claim under way were read. */
  #hasFreedMemory = false

  constructor({ passesMax, stateBytesMax, clock, onRoom, onReturn }: EnginePermitsOptions) {
    this.#onReturn = onReturn
    this.#clock = clock
    this.#permits = new FairPermits(passesMax)
    this.#memory = new RunMemory(stateBytesMax)
    this.#onRoom = onRoom
  }

  /** How many permits anybody may take; beyond it there is a reserve (domain/pass/permits/fair-permits). */
  get max(): number {
    return this.#permits.max
  }

  /** Whether as many are in use as anybody may take. */
  get isFull(): boolean {
    return this.inUse >= this.max
  }

  get inUse(): number {
    return this.#permits.taken
  }

  /** How many runs a claim may take at most. */
  get room(): number {
    return this.#memory.hasRoom(0) ? this.#permits.room : 0
  }

  /** The memory for the state of runs in bytes, what of it is taken, and the runs that wait for some. */
  get memory(): { max: number; used: number; waiting: number } {
    return { max: this.#memory.max, used: this.#memory.used, waiting: this.#left.size }
  }

  /** The state of a run that waits in the store for memory, in bytes. */
  waitsForMemory(runId: string): number | undefined {
    return this.#left.get(runId)
  }

  /** Runs have outgrown the memory. */
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
    // It does not go before the large runs that wait.
    if (this.#left.size > 0 && bytes > this.#memory.smallMax) return false
    this.take({ namespace, app }, bytes)
    return true
  }

  /** For a run that was claimed, which `giveBack` follows too. */
  take({ namespace, app }: OfApp, bytes: number): void {
    this.#permits.take(namespace, app)
    this.#memory.take(bytes)
  }

  /** The state of the run may have another size now. */
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

  /** Whether the run has to end its pass and wait in the store, because runs have outgrown the memory. */
  mustLeave(owner: PermitOwner): boolean {
    if (owner.isLeaving || !this.#memory.mustLeave(owner.bytes)) return owner.isLeaving === true
    owner.isLeaving = true
    this.#memory.leaves(owner.bytes)
    return true
  }

  /** The run is no longer under way. */
  leave({ state, bytes, isLeaving }: PermitOwner): void {
    if (isLeaving) this.#memory.left(bytes)
    this.giveBack(state.run, bytes)
  }

  giveBack({ namespace, app }: OfApp, bytes: number): void {
    this.#permits.giveBack(namespace, app)
    this.#memory.giveBack(bytes)
    this.#hasFreedMemory = true
    this.#onReturn()
    this.#returns.notify()
    if (this.#mayLoad()) this.#wake()
    if (!this.#isShortOfPermits) return
    if (++this.#freed >= this.#permits.max * ROOM_PART) this.#wake()
    else this.#cancelWake ??= this.#clock.after(ROOM_DELAY_MS, () => this.#wake())
  }

  /** The bounds of a claim that is made now. */
  claimBounds(): Required<Pick<RunClaim, 'permits' | 'memory'>> {
    this.#hasFreedMemory = false
    return { permits: { max: this.#permits.max, taken: this.#permits.list() }, memory: this.#memory.inUse() }
  }

  /** A claim took so many runs, none of which has taken its permit yet, and left others for lack of memory. */
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

  /** Whether there is memory by now for a run that was left. */
  #mayLoad(): boolean {
    if (this.#left.size === 0) return false
    for (const bytes of this.#left.values()) if (this.#memory.hasRoom(bytes)) return true
    return false
  }

  #wake(): void {
    this.#cancelWake?.()
    this.#cancelWake = undefined
    this.#isShortOfPermits = false
    this.#onRoom()
  }
}
