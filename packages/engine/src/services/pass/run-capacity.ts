// The runs under way on this engine, which take its places (domain/pass/places). Kept by the driver.

import type { Run } from '../../domain/model/run.ts'
import { Places } from '../../domain/pass/places.ts'
import type { Clock } from '../../ports/clock.ts'
import type { RunClaim } from '../../ports/store.ts'
import { Releases } from '../support/engine-capacity.ts'

/**
 * When runs wait for places, a claim for each one that becomes free would cost more than the passes. The lane is woken for this
 * part of the places, or this long after the first.
 */
const ROOM_PART = 1 / 16
const ROOM_DELAY_MS = 5

type OfApp = Pick<Run, 'namespace' | 'app'>

export class RunCapacity {
  readonly #places: Places
  readonly #onRoom: () => void
  readonly #releases = new Releases()
  readonly #clock: Clock
  #cancelWake: (() => void) | undefined
  /** Places that became free since the last claim, while runs wait for some. */
  #freed = 0
  /** Whether the last claim may have left runs for lack of a place. */
  #isShort = false

  /** `max`: how many places anybody may take. `onRoom`: called when runs that a claim left may find a place. */
  constructor({ max, clock, onRoom }: { max: number; clock: Clock; onRoom: () => void }) {
    this.#clock = clock
    this.#places = new Places(max)
    this.#onRoom = onRoom
  }

  /** How many places anybody may take; beyond it there is a reserve (domain/pass/places). */
  get max(): number {
    return this.#places.max
  }

  get inUse(): number {
    return this.#places.taken
  }

  /** How many runs a claim may take at most. */
  get room(): number {
    return this.#places.room
  }

  get isShort(): boolean {
    return this.#isShort
  }

  /** False when there is no place for a run of the app. Every success needs one `release`. */
  tryAcquire({ namespace, app }: OfApp): boolean {
    if (!this.#places.hasRoom(namespace, app)) return false
    this.#places.take(namespace, app)
    return true
  }

  /** For a run that was claimed, which `release` follows too. */
  acquire({ namespace, app }: OfApp): void {
    this.#places.take(namespace, app)
  }

  release({ namespace, app }: OfApp): void {
    this.#places.giveBack(namespace, app)
    this.#releases.notify()
    if (!this.#isShort) return
    if (++this.#freed >= this.#places.max * ROOM_PART) this.#wake()
    else this.#cancelWake ??= this.#clock.after(ROOM_DELAY_MS, () => this.#wake())
  }

  /** The bounds of a claim that is made now. */
  claimBounds(): Required<Pick<RunClaim, 'places'>> {
    return { places: { max: this.#places.max, taken: this.#places.list() } }
  }

  /** A claim took so many runs, none of which was acquired yet. */
  claimed(count: number): void {
    this.#isShort = this.#places.taken + count >= this.#places.max
    this.#freed = 0
  }

  /** Resolves when a claim may take runs, or on abort. */
  waitForRoom(signal: AbortSignal): Promise<void> {
    return this.#releases.until(() => this.room > 0, signal)
  }

  /** Resolves when no run is under way. */
  waitUntilIdle(): Promise<void> {
    return this.#releases.until(() => this.inUse === 0)
  }

  #wake(): void {
    this.#cancelWake?.()
    this.#cancelWake = undefined
    this.#isShort = false
    this.#onRoom()
  }
}
