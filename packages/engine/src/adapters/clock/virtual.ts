// A clock that moves only when the test or the simulation advances it: the whole engine runs under it.

import { invariant } from '../../domain/model/errors.ts'
import type { Clock } from '../../ports/clock.ts'

export interface VirtualClockOptions {
  /** The first time, epoch ms. */
  start?: number
  /** Resolves when the work that a timer started is over; the next timer fires then. */
  settle?: () => Promise<void>
}

interface Timer {
  time: number
  fn: () => void
}

const START = Date.UTC(2030, 0, 1)
/** Rounds through the event loop: enough for promise chains that hop over a few immediates. */
const SETTLE_ROUNDS = 3

/** Timers fire only while it advances, in order of time, then of insertion: the same calls give the same history. */
export class VirtualClock implements Clock {
  readonly #timers: Timer[] = []
  readonly #settle: () => Promise<void>
  #now: number
  #advancing = false

  constructor(options: VirtualClockOptions = {}) {
    this.#now = options.start ?? START
    this.#settle = options.settle ?? settleImmediates
  }

  now(): number {
    return this.#now
  }

  at(time: number, fn: () => void): () => void {
    invariant(!Number.isNaN(time), 'a timer has a time')
    const timer = { time, fn }
    this.#timers.splice(this.#firstAfter(time), 0, timer)
    return () => {
      const index = this.#timers.indexOf(timer)
      if (index >= 0) this.#timers.splice(index, 1)
    }
  }

  /** How many timers are set. */
  get timerCount(): number {
    return this.#timers.length
  }

  /** When the next timer is due, if there is one. A time that has passed means at the next advance. */
  nextTimer(): number | undefined {
    return this.#timers[0]?.time
  }

  /** Moves the clock forward by `ms`; 0 fires the timers that are already due. */
  advance(ms: number): Promise<void> {
    return this.advanceTo(this.#now + ms)
  }

  /** Moves the clock forward to `time` and stops at every timer before it, including timers that are set on the way. */
  async advanceTo(time: number): Promise<void> {
    invariant(Number.isFinite(time) && time >= this.#now, 'virtual time only runs forward')
    invariant(!this.#advancing, 'one advance at a time')
    this.#advancing = true
    try {
      await this.#settle()
      for (;;) {
        const timer = this.#timers[0]
        if (timer === undefined || timer.time > time) break
        this.#timers.shift()
        this.#now = Math.max(this.#now, timer.time)
        timer.fn()
        await this.#settle()
      }
      this.#now = time
      await this.#settle()
    } finally {
      this.#advancing = false
    }
  }

  /** Moves the clock to `time` at once, as after a machine's sleep: timers that are due by then fire late, and once. */
  leapTo(time: number): void {
    invariant(Number.isFinite(time) && time >= this.#now, 'virtual time only runs forward')
    invariant(!this.#advancing, 'one advance at a time')
    this.#now = time
    for (let timer = this.#timers[0]; timer && timer.time <= time; timer = this.#timers[0]) {
      this.#timers.shift()
      timer.fn()
    }
  }

  /** The index of the first timer later than `time`: a new timer is inserted behind its equals. */
  #firstAfter(time: number): number {
    let low = 0
    let high = this.#timers.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#timers[middle] as Timer).time <= time) low = middle + 1
      else high = middle
    }
    return low
  }
}

async function settleImmediates(): Promise<void> {
  for (let i = 0; i < SETTLE_ROUNDS; i++) await new Promise(resolve => setImmediate(resolve))
}
