// A clock that stands still until the test moves it, and then moves in one jump, like the clock of a machine that
// slept. Every timer due by then fires, in order, at the new time, so thirty days cost no more than a second.

import type { Clock } from '../../../packages/engine/src/ports/clock.ts'

interface Timer {
  time: number
  fn: () => void
}

export class JumpClock implements Clock {
  readonly #timers = new Set<Timer>()
  #now: number

  constructor(start = Date.UTC(2031, 4, 20, 12)) {
    this.#now = start
  }

  now(): number {
    return this.#now
  }

  at(time: number, fn: () => void): () => void {
    const timer = { time, fn }
    this.#timers.add(timer)
    // A timer for a time that has passed fires soon, as it does on a real clock.
    if (time <= this.#now) setImmediate(() => this.#fire(timer))
    return () => this.#timers.delete(timer)
  }

  jump(ms: number): void {
    this.jumpTo(this.#now + ms)
  }

  jumpTo(time: number): void {
    if (time < this.#now) throw new Error('time does not run backwards')
    this.#now = time
    const due = [...this.#timers].filter(timer => timer.time <= time).sort((a, b) => a.time - b.time)
    for (const timer of due) this.#fire(timer)
  }

  #fire(timer: Timer): void {
    if (this.#timers.delete(timer)) timer.fn()
  }
}
