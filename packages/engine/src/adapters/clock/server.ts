// The clock of engines that share a database: all use the database's time, so that no lease ends early because another
// machine's clock is ahead. Opened by backends.

import { type Clock, every } from '../../ports/clock.ts'
import { callAt } from './call-at.ts'

/** A machine's monotonic clock drifts from the server's by about a millisecond per minute. */
const MEASURE_EVERY_MS = 30_000
/** Requests per measurement. The quickest answer counts; on a busy machine it is by far the most exact. */
const SAMPLES = 5
/** How often this machine's clocks are compared. */
const CHECK_EVERY_MS = 1000
/**
 * If the local clocks moved apart by this much, the wall clock was set, or the machine slept, when a monotonic clock may stand
 * still. After a sleep another measurement is needed; from here the two cases look the same.
 */
const DIVERGED_MS = 250
/** If a check comes this late, the process was frozen. */
const LATE_MS = 2000

export interface ServerClockOptions {
  /** This machine's clock. */
  local: Clock
  /** Epoch ms by the server's clock. */
  serverTime(): Promise<number>
  onError(error: unknown): void
}

/**
 * Between two measurements it runs by the local monotonic clock: setting the local wall clock has no effect.
 */
export class ServerClock implements Clock {
  readonly #options: ServerClockOptions
  /** The server's time at which the local monotonic clock was 0. */
  #origin = 0
  /** The same for the local wall clock, when the clocks were last compared. */
  #localOrigin = 0
  #checkedAt = 0
  #measuredAt = 0
  #measuring: Promise<void> | undefined
  #stopTimer: () => void = () => {}

  private constructor(options: ServerClockOptions) {
    this.#options = options
  }

  /** Measures the server's time once before it resolves, and again from time to time until stopped. */
  static async follow(options: ServerClockOptions): Promise<ServerClock> {
    const clock = new ServerClock(options)
    await clock.#measure()
    clock.#hasDiverged()
    clock.#stopTimer = every(options.local, CHECK_EVERY_MS, () => clock.#check())
    return clock
  }

  now(): number {
    return Math.floor(this.#origin + this.#options.local.elapsed())
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
    this.#stopTimer()
  }

  #check(): void {
    const isDue = this.elapsed() - this.#measuredAt >= MEASURE_EVERY_MS
    if (this.#hasDiverged() || isDue) this.#remeasure()
  }

  /** Whether the local clocks no longer agree, or stood still. The next comparison starts at this moment. */
  #hasDiverged(): boolean {
    const { local } = this.#options
    const elapsed = local.elapsed()
    const localOrigin = local.now() - elapsed
    const hasDiverged = Math.abs(localOrigin - this.#localOrigin) > DIVERGED_MS
    const isLate = elapsed - this.#checkedAt > CHECK_EVERY_MS + LATE_MS
    this.#localOrigin = localOrigin
    this.#checkedAt = elapsed
    return hasDiverged || isLate
  }

  /** Makes one measurement at a time. A failed one is repeated at the next time; until then the last result counts. */
  #remeasure(): void {
    this.#measuring ??= this.#measure()
      .catch(this.#options.onError)
      .finally(() => {
        this.#measuring = undefined
      })
  }

  /** The server reads its clock between request and answer, so the error is at most half of that time. */
  async #measure(): Promise<void> {
    const { local, serverTime } = this.#options
    this.#measuredAt = local.elapsed()
    let quickestMs = Number.POSITIVE_INFINITY
    let origin = this.#origin
    for (let i = 0; i < SAMPLES; i++) {
      const requestedAt = local.elapsed()
      const server = await serverTime()
      const tookMs = local.elapsed() - requestedAt
      if (tookMs >= quickestMs) continue
      quickestMs = tookMs
      origin = server - requestedAt - tookMs / 2
    }
    this.#origin = origin
  }
}
