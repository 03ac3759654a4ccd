// The bell of an engine that is alone on its store: lanes wait here, commits ring. Nothing leaves the process.

import type { Clock } from '../../ports/clock.ts'
import type { Queue } from '../../ports/queue.ts'
import type { Lane } from '../../ports/store.ts'

/**
 * Most rings a lane remembers for later. Beyond it the latest is forgotten, which costs only time: a lane that
 * waits also knows the store's next due time.
 */
export const LANE_WAKES_MAX = 10_000

export class MemoryQueue implements Queue {
  readonly #bells: Record<Lane, Bell>

  constructor(clock: Clock) {
    this.#bells = { runs: new Bell(clock), deliveries: new Bell(clock), timers: new Bell(clock) }
  }

  wake(lane: Lane, at: number): void {
    this.#bells[lane].wake(at)
  }

  wait(lane: Lane, until: number, signal: AbortSignal): Promise<void> {
    return this.#bells[lane].wait(until, signal)
  }
}

/** One lane's bell. It holds a timer only while somebody waits, so that nothing outlives the last waiter. */
class Bell {
  readonly #clock: Clock
  /** Distinct times still to ring, the latest first, so that the next one is at the end. */
  readonly #rings: number[] = []
  /** It rang while nobody waited: the next to wait is told at once. */
  #rung = false
  readonly #waiting = new Set<() => void>()
  #armedFor: number | undefined
  #disarm: () => void = () => {}

  constructor(clock: Clock) {
    this.#clock = clock
  }

  wake(at: number): void {
    if (at > this.#clock.now()) {
      this.#remember(at)
      if (this.#waiting.size > 0) this.#arm()
    } else if (this.#waiting.size > 0) this.#ring()
    else this.#rung = true
  }

  wait(until: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.resolve()
    if (this.#takeDue() || until <= this.#clock.now()) return Promise.resolve()
    return new Promise(resolve => {
      const end = () => {
        this.#waiting.delete(end)
        cancelUntil()
        signal.removeEventListener('abort', end)
        if (this.#waiting.size === 0) this.#stop()
        resolve()
      }
      const cancelUntil = Number.isFinite(until) ? this.#clock.at(until, () => this.#reached(end)) : () => {}
      signal.addEventListener('abort', end)
      this.#waiting.add(end)
      this.#arm()
    })
  }

  /** Wakes everybody: a ring too many is harmless, one too few is not. */
  #ring(): void {
    this.#takeDue()
    for (const end of [...this.#waiting]) end()
  }

  /** A waiter's `until` came. A ring due at that very moment is answered by it, for this waiter. */
  #reached(end: () => void): void {
    if (this.#waiting.size === 1) this.#takeDue()
    end()
  }

  #remember(at: number): void {
    let low = 0
    let high = this.#rings.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#rings[middle] as number) > at) low = middle + 1
      else high = middle
    }
    if (this.#rings[low] === at) return
    this.#rings.splice(low, 0, at)
    if (this.#rings.length > LANE_WAKES_MAX) this.#rings.shift()
  }

  /** Forgets every ring whose time has come; says whether there was one. */
  #takeDue(): boolean {
    const now = this.#clock.now()
    let due = this.#rung
    this.#rung = false
    while (this.#rings.length > 0 && (this.#rings.at(-1) as number) <= now) {
      this.#rings.pop()
      due = true
    }
    return due
  }

  #arm(): void {
    const next = this.#rings.at(-1)
    if (next === undefined || next === this.#armedFor) return
    this.#stop()
    this.#armedFor = next
    this.#disarm = this.#clock.at(next, () => {
      this.#armedFor = undefined
      this.#ring()
    })
  }

  #stop(): void {
    this.#disarm()
    this.#armedFor = undefined
  }
}
