// The clock of an engine that is alone on its store: it runs evenly, whatever happens to the wall clock. When someone sets the
// wall clock, the stored times are moved first, and only then does this clock follow (docs/decisions/0013-clocks.md). Opened
// by backends.

import { type Clock, every } from '../../ports/clock.ts'
import { callAt } from './call-at.ts'

/** How often an idle engine compares the clocks; every reading of the time does so too. */
const CHECK_EVERY_MS = 5000
/** The clock follows a smaller correction of the wall clock at once: nobody sets it by so little, and no timer is that exact. */
const CORRECTION_MS_MAX = 1000

export interface SteadyClockOptions {
  /** This machine's clock. */
  local: Clock
  /** How long the machine has slept in total, while its monotonic clock stood still. */
  sleptMs(): number
  /** Moves all stored times by this many ms, before this clock moves. A rejection is repeated at the next check. */
  moveTimes(by: number): Promise<void>
  /** Called when the clock has moved by this much: timers may be due sooner than their waiters know. */
  onMoved(by: number): void
  onError(error: unknown): void
}

export class SteadyClock implements Clock {
  readonly #options: SteadyClockOptions
  /** The time at which the local monotonic clock was 0. */
  #origin: number
  #sleptMs: number
  #isMoving = false
  #hasFailed = false
  readonly #stopChecks: () => void

  constructor(options: SteadyClockOptions) {
    const { local } = options
    this.#options = options
    this.#origin = local.now() - local.elapsed()
    this.#sleptMs = options.sleptMs()
    this.#stopChecks = every(local, CHECK_EVERY_MS, () => {
      this.#hasFailed = false
      this.now()
    })
  }

  now(): number {
    const { local } = this.#options
    const wall = local.now()
    const by = wall - this.#origin - local.elapsed()
    if (by >= 1 || by <= -1) this.#follow(by)
    return Math.floor(this.#origin + local.elapsed())
  }

  elapsed(): number {
    return this.#options.local.elapsed()
  }

  at(time: number, fn: () => void): () => void {
    return callAt(this, time, fn)
  }

  after(ms: number, fn: () => void): () => void {
    return this.#options.local.after(ms, fn)
  }

  stop(): void {
    this.#stopChecks()
    this.#isMoving = true
  }

  /** Called when the wall clock is ahead of this one by this much, or behind it. */
  #follow(by: number): void {
    if (this.#isMoving || this.#hasFailed) return
    if (Math.abs(by) <= CORRECTION_MS_MAX) {
      this.#origin += by
      return
    }
    const { sleptMs, onMoved } = this.#options
    const slept = sleptMs()
    // A machine that slept lost the time like everybody else: everything that fell due meanwhile is due.
    if (Math.abs(by - (slept - this.#sleptMs)) <= CORRECTION_MS_MAX) {
      this.#sleptMs = slept
      this.#origin += by
      onMoved(by)
      return
    }
    this.#isMoving = true
    void this.#move(by)
  }

  async #move(by: number): Promise<void> {
    const { moveTimes, onMoved, onError } = this.#options
    try {
      await moveTimes(by)
      this.#origin += by
      this.#isMoving = false
      onMoved(by)
    } catch (error) {
      this.#hasFailed = true
      this.#isMoving = false
      onError(error)
    }
  }
}
