// The runs under way on this engine, which take its places (domain/pass/room/places) and memory for their state
// (domain/pass/room/run-memory). Kept by the driver.

import type { Run } from '../../../domain/model/run.ts'
import { Places } from '../../../domain/pass/room/places.ts'
import { RunMemory } from '../../../domain/pass/room/run-memory.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { LeftRun, RunClaim } from '../../../ports/store.ts'
import { Releases } from '../../support/engine-capacity.ts'

/**
 * When runs wait for places, a claim for each one that becomes free would cost more than the passes. The lane is woken for this
 * part of the places, or this long after the first.
 */
const ROOM_PART = 1 / 16
const ROOM_DELAY_MS = 5

type OfApp = Pick<Run, 'namespace' | 'app'>

/** A run under way, as far as its memory is concerned. */
export interface Holder {
  state: { readonly run: OfApp; readonly size: number }
  /** The memory that it has taken. */
  bytes: number
  /** It gives its memory back when its pass is over. */
  isLeaving?: boolean
}

export class RunCapacity {
  readonly #places: Places
  readonly #memory: RunMemory
  readonly #onRoom: () => void
  readonly #onRelease: () => void
  readonly #releases = new Releases()
  readonly #clock: Clock
  #cancelWake: (() => void) | undefined
  /** Places that became free since the last claim, while runs wait for some. */
  #freed = 0
  /** Whether the last claim may have left runs for lack of a place. */
  #isShortOfPlaces = false
  /** The runs that the last claim left for lack of memory, with the sizes of their states. */
  #left = new Map<string, number>()
  /** Memory became free after the bounds of the claim under way were read. */
  #hasFreedMemory = false

  /**
   * `max`: how many places anybody may take. `memory`: bytes for the state of runs. `onRoom`: called when runs that a claim left may
   * find room. `onRelease`: called when a run has given back what it had.
   */
  constructor(options: { max: number; memory: number; clock: Clock; onRoom: () => void; onRelease?: () => void }) {
    const { max, memory, clock, onRoom, onRelease = () => {} } = options
    this.#onRelease = onRelease
    this.#clock = clock
    this.#places = new Places(max)
    this.#memory = new RunMemory(memory)
    this.#onRoom = onRoom
  }

  /** How many places anybody may take; beyond it there is a reserve (domain/pass/room/places). */
  get max(): number {
    return this.#places.max
  }

  get inUse(): number {
    return this.#places.taken
  }

  /** How many runs a claim may take at most. */
  get room(): number {
    return this.#memory.hasRoom(0) ? this.#places.room : 0
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
    return this.#isShortOfPlaces || this.#left.size > 0
  }

  /** False when there is no place for a run of the app, or no memory for its state. Every success needs one `release`. */
  tryAcquire({ namespace, app }: OfApp, bytes: number): boolean {
    if (!this.#places.hasRoom(namespace, app) || !this.#memory.hasRoom(bytes)) return false
    // It does not go before the large runs that wait.
    if (this.#left.size > 0 && bytes > this.#memory.smallMax) return false
    this.acquire({ namespace, app }, bytes)
    return true
  }

  /** For a run that was claimed, which `release` follows too. */
  acquire({ namespace, app }: OfApp, bytes: number): void {
    this.#places.take(namespace, app)
    this.#memory.take(bytes)
  }

  /** The state of the run may have another size now. */
  resize(holder: Holder): void {
    const { bytes, state } = holder
    if (state.size === bytes) return
    this.#memory.giveBack(bytes)
    this.#memory.take(state.size)
    holder.bytes = state.size
    if (!holder.isLeaving) return
    this.#memory.left(bytes)
    this.#memory.leaves(state.size)
  }

  /** Whether the run has to end its pass and wait in the store, because runs have outgrown the memory. */
  mustLeave(holder: Holder): boolean {
    if (holder.isLeaving || !this.#memory.mustLeave(holder.bytes)) return holder.isLeaving === true
    holder.isLeaving = true
    this.#memory.leaves(holder.bytes)
    return true
  }

  /** The run is no longer under way. */
  leave({ state, bytes, isLeaving }: Holder): void {
    if (isLeaving) this.#memory.left(bytes)
    this.release(state.run, bytes)
  }

  release({ namespace, app }: OfApp, bytes: number): void {
    this.#places.giveBack(namespace, app)
    this.#memory.giveBack(bytes)
    this.#hasFreedMemory = true
    this.#onRelease()
    this.#releases.notify()
    if (this.#mayLoad()) this.#wake()
    if (!this.#isShortOfPlaces) return
    if (++this.#freed >= this.#places.max * ROOM_PART) this.#wake()
    else this.#cancelWake ??= this.#clock.after(ROOM_DELAY_MS, () => this.#wake())
  }

  /** The bounds of a claim that is made now. */
  claimBounds(): Required<Pick<RunClaim, 'places' | 'memory'>> {
    this.#hasFreedMemory = false
    return { places: { max: this.#places.max, taken: this.#places.list() }, memory: this.#memory.inUse() }
  }

  /** A claim took so many runs, none of which was acquired yet, and left others for lack of memory. */
  claimed(count: number, left: readonly LeftRun[]): void {
    this.#isShortOfPlaces = this.#places.taken + count >= this.#places.max
    if (left.length > 0 || this.#left.size > 0) this.#left = new Map(left.map(({ id, bytes }) => [id, bytes]))
    this.#freed = 0
    if (this.#hasFreedMemory && this.#mayLoad()) this.#wake()
  }

  /** Resolves when a claim may take runs, or on abort. */
  waitForRoom(signal: AbortSignal): Promise<void> {
    return this.#releases.until(() => this.room > 0, signal)
  }

  /** Resolves when no run is under way. */
  waitUntilIdle(): Promise<void> {
    return this.#releases.until(() => this.inUse === 0)
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
    this.#isShortOfPlaces = false
    this.#onRoom()
  }
}
