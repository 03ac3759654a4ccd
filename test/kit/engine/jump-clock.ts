// A clock that stands still until the test moves it, and then moves in one jump, like the clock of a machine that slept. Every
// timer due by then fires, in order, at the new time, so thirty days cost no more than a second does.

import type { Clock } from '../../../packages/engine/src/ports/clock.ts'

interface Timer {
  /** When the timer is due by the monotonic clock. */
  due: number
  /** The wall time for which it was requested; absent: it uses only the monotonic clock. */
  wall?: number
  fn: () => void
}

export class JumpClock implements Clock {
  readonly #timers = new Set<Timer>()
  #elapsed = 0
  /** The wall time at which the monotonic clock was 0. */
  #origin: number

  constructor(start = Date.UTC(2031, 4, 20, 12)) {
    this.#origin = start
  }

  now(): number {
    return this.#origin + this.#elapsed
  }

  elapsed(): number {
    return this.#elapsed
  }

  at(time: number, fn: () => void): () => void {
    return this.#add({ due: time - this.#origin, wall: time, fn })
  }

  after(ms: number, fn: () => void): () => void {
    return this.#add({ due: this.#elapsed + ms, fn })
  }

  jump(ms: number): void {
    this.jumpTo(this.now() + ms)
  }

  jumpTo(time: number): void {
    if (time < this.now()) throw new Error('time does not run backwards')
    this.#elapsed = time - this.#origin
    this.#fireDue()
  }

  /** Sets the wall clock, back or forward, as an administrator does; no time passes. */
  setWall(time: number): void {
    this.#origin = time - this.#elapsed
    for (const timer of this.#timers) if (timer.wall !== undefined) timer.due = timer.wall - this.#origin
    this.#fireDue()
  }

  #add(timer: Timer): () => void {
    this.#timers.add(timer)
    // A timer for a time that has passed fires soon, as it does on a real clock.
    if (timer.due <= this.#elapsed) setImmediate(() => this.#fire(timer))
    return () => this.#timers.delete(timer)
  }

  #fireDue(): void {
    const due = [...this.#timers].filter(timer => timer.due <= this.#elapsed).sort((a, b) => a.due - b.due)
    for (const timer of due) this.#fire(timer)
  }

  #fire(timer: Timer): void {
    if (this.#timers.delete(timer)) timer.fn()
  }
}
