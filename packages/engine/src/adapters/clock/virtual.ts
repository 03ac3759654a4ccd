// A clock that moves only when the test or the simulation advances it: the whole engine runs under it.

import { invariant } from '../../domain/model/errors.ts'
import type { Clock } from '../../ports/clock.ts'

export interface VirtualClockOptions {
  /** The first time, epoch ms. */
  start?: number
  /** Resolves when the work started by a timer is over; then the next timer fires. */
  settle?: () => Promise<void>
}

interface Timer {
  /** When it is due by the monotonic clock. */
  due: number
  /** The wall time for which it was set; absent: only the monotonic clock counts. */
  wall?: number
  fn: () => void
}

const START = Date.UTC(2030, 0, 1)
/** Rounds through the event loop: enough for promise chains that hop over a few immediates. */
const SETTLE_ROUNDS = 3

/**
 * Timers fire only while it advances, in order of time, then of insertion: the same calls give the same history. The wall clock
 * runs along with the monotonic one, until `setWall` sets it.
 */
export class VirtualClock implements Clock {
  readonly #timers: Timer[] = []
  readonly #settle: () => Promise<void>
  #elapsed = 0
  /** The wall time at which the monotonic clock was 0. */
  #origin: number
  #advancing = false

  constructor(options: VirtualClockOptions = {}) {
    this.#origin = options.start ?? START
    this.#settle = options.settle ?? settleImmediates
  }

  now(): number {
    return this.#origin + this.#elapsed
  }

  elapsed(): number {
    return this.#elapsed
  }

  at(time: number, fn: () => void): () => void {
    invariant(!Number.isNaN(time), 'a timer has a time')
    return this.#insert({ due: time - this.#origin, wall: time, fn })
  }

  after(ms: number, fn: () => void): () => void {
    invariant(!Number.isNaN(ms), 'a timer has a delay')
    return this.#insert({ due: this.#elapsed + Math.max(0, Math.ceil(ms)), fn })
  }

  /** Sets the wall clock, back or forward, as an administrator does; no time passes. */
  setWall(time: number): void {
    invariant(Number.isFinite(time), 'the wall clock shows a time')
    this.#origin = time - this.#elapsed
    for (const timer of this.#timers) if (timer.wall !== undefined) timer.due = timer.wall - this.#origin
    this.#timers.sort((a, b) => a.due - b.due)
  }

  /** How many timers are set. */
  get timerCount(): number {
    return this.#timers.length
  }

  /**
   * The wall time at which the next timer is due, if there is one. If that time has passed, the timer fires at the next advance.
   */
  nextTimer(): number | undefined {
    const next = this.#timers[0]
    return next && next.due + this.#origin
  }

  /** Moves both clocks forward by `ms`; 0 fires the timers that are already due. */
  advance(ms: number): Promise<void> {
    return this.advanceTo(this.now() + ms)
  }

  /**
   * Moves both clocks forward until the wall clock shows `time`, and stops at every timer before it, including timers set on the
   * way. If the wall clock is set on the way, the clocks still move only as far as they would have without it.
   */
  async advanceTo(time: number): Promise<void> {
    const end = time - this.#origin
    invariant(Number.isFinite(end) && end >= this.#elapsed, 'virtual time only runs forward')
    invariant(!this.#advancing, 'one advance at a time')
    this.#advancing = true
    try {
      await this.#settle()
      for (;;) {
        const timer = this.#timers[0]
        if (timer === undefined || timer.due > end) break
        this.#timers.shift()
        this.#elapsed = Math.max(this.#elapsed, timer.due)
        timer.fn()
        await this.#settle()
      }
      this.#elapsed = end
      await this.#settle()
    } finally {
      this.#advancing = false
    }
  }

  /** Moves both clocks at once, as after a machine's sleep: timers due by then fire late, and once. */
  leapTo(time: number): void {
    const end = time - this.#origin
    invariant(Number.isFinite(end) && end >= this.#elapsed, 'virtual time only runs forward')
    invariant(!this.#advancing, 'one advance at a time')
    this.#elapsed = end
    for (let timer = this.#timers[0]; timer && timer.due <= end; timer = this.#timers[0]) {
      this.#timers.shift()
      timer.fn()
    }
  }

  /** Inserts the timer after all timers that are not later, so that equal ones fire in the order of their insertion. */
  #insert(timer: Timer): () => void {
    let low = 0
    let high = this.#timers.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#timers[middle] as Timer).due <= timer.due) low = middle + 1
      else high = middle
    }
    this.#timers.splice(low, 0, timer)
    return () => {
      const index = this.#timers.indexOf(timer)
      if (index >= 0) this.#timers.splice(index, 1)
    }
  }
}

async function settleImmediates(): Promise<void> {
  for (let i = 0; i < SETTLE_ROUNDS; i++) await new Promise(resolve => setImmediate(resolve))
}
