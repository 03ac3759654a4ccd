// The queue of an engine that is alone on its store: commits wake the lanes that wait here. Nothing leaves the process.

import type { Clock } from '../../ports/clock.ts'
import type { Queue } from '../../ports/queue.ts'
import type { Lane } from '../../ports/store.ts'

/**
 * Most future wake-ups that a lane remembers. Beyond this the latest is dropped, which costs only time: a waiting lane also knows
 * the store's next due time.
 */
export const LANE_WAKES_MAX = 10_000

export class MemoryQueue implements Queue {
  readonly #lanes: Record<Lane, LaneWakes>

  constructor(clock: Clock) {
    this.#lanes = {
      runs: new LaneWakes(clock),
      deliveries: new LaneWakes(clock),
      timers: new LaneWakes(clock),
    }
  }

  wake(lane: Lane, at: number): void {
    this.#lanes[lane].wake(at)
  }

  wait(lane: Lane, until: number, signal: AbortSignal): Promise<void> {
    return this.#lanes[lane].wait(until, signal)
  }
}

/** The wake-ups of one lane. It has a timer only while a caller waits, so no timer outlives the last wait. */
class LaneWakes {
  readonly #clock: Clock
  /** Distinct future times, the latest first: the next one is at the end. */
  readonly #times: number[] = []
  /** Whether a wake-up came without a wait: the next wait ends at once. */
  #isWoken = false
  readonly #waiting = new Set<() => void>()
  #timerAt: number | undefined
  #cancelTimer: () => void = () => {}

  constructor(clock: Clock) {
    this.#clock = clock
  }

  wake(at: number): void {
    if (at > this.#clock.now()) {
      this.#addTime(at)
      if (this.#waiting.size > 0) this.#startTimer()
    } else if (this.#waiting.size > 0) this.#wakeAll()
    else this.#isWoken = true
  }

  wait(until: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.resolve()
    if (this.#takeDue() || until <= this.#clock.now()) return Promise.resolve()
    return new Promise(resolve => {
      const end = () => {
        this.#waiting.delete(end)
        cancelUntil()
        signal.removeEventListener('abort', end)
        if (this.#waiting.size === 0) this.#stopTimer()
        resolve()
      }
      const cancelUntil = Number.isFinite(until) ? this.#endAt(until, () => this.#reached(end)) : () => {}
      signal.addEventListener('abort', end)
      this.#waiting.add(end)
      this.#startTimer()
    })
  }

  /** Calls `fn` at `until` of the wall clock, or when the time to it has passed by the monotonic clock, whichever comes first. */
  #endAt(until: number, fn: () => void): () => void {
    const cancels = [this.#clock.at(until, fn), this.#clock.after(until - this.#clock.now(), fn)]
    return () => {
      for (const cancel of cancels) cancel()
    }
  }

  /** Ends every wait: a superfluous wake-up is harmless, a missing one is not. */
  #wakeAll(): void {
    this.#takeDue()
    for (const end of [...this.#waiting]) end()
  }

  /**
   * Called when the `until` of a wait has come. If no other caller waits, it also uses up a wake-up that is due at that moment.
   */
  #reached(end: () => void): void {
    if (this.#waiting.size === 1) this.#takeDue()
    end()
  }

  #addTime(at: number): void {
    let low = 0
    let high = this.#times.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#times[middle] as number) > at) low = middle + 1
      else high = middle
    }
    if (this.#times[low] === at) return
    this.#times.splice(low, 0, at)
    if (this.#times.length > LANE_WAKES_MAX) this.#times.shift()
  }

  /** Removes every wake-up that is due; returns whether there was one. */
  #takeDue(): boolean {
    const now = this.#clock.now()
    let due = this.#isWoken
    this.#isWoken = false
    while (this.#times.length > 0 && (this.#times.at(-1) as number) <= now) {
      this.#times.pop()
      due = true
    }
    return due
  }

  #startTimer(): void {
    const next = this.#times.at(-1)
    if (next === undefined || next === this.#timerAt) return
    this.#stopTimer()
    this.#timerAt = next
    this.#cancelTimer = this.#clock.at(next, () => {
      this.#timerAt = undefined
      this.#wakeAll()
    })
  }

  #stopTimer(): void {
    this.#cancelTimer()
    this.#timerAt = undefined
  }
}
