// The clock of engines that share a database: all use the database's time, so that no lease ends early because another
// machine's clock is ahead. Opened by backends.

import { type Clock, every } from '../../ports/clock.ts'

/** A machine's clock drifts by about a millisecond per minute, and jumps when it is set. */
const MEASURE_EVERY_MS = 30_000
/** Requests per measurement. The one with the quickest answer counts; on a busy machine it is by far the most exact. */
const SAMPLES = 5

export interface ServerClockOptions {
  /** This machine's clock. */
  local: Clock
  /** Epoch ms by the server's clock. */
  serverTime(): Promise<number>
  onError(error: unknown): void
}

export class ServerClock implements Clock {
  readonly #options: ServerClockOptions
  /** How far the server's clock is ahead of the local one. */
  #aheadMs = 0
  #stopTimer: () => void = () => {}

  private constructor(options: ServerClockOptions) {
    this.#options = options
  }

  /** Measures the server's time once before it resolves, and again from time to time until stopped. */
  static async follow(options: ServerClockOptions): Promise<ServerClock> {
    const clock = new ServerClock(options)
    await clock.#measure()
    clock.#stopTimer = every(options.local, MEASURE_EVERY_MS, () => clock.#measure().catch(options.onError))
    return clock
  }

  now(): number {
    return this.#options.local.now() + this.#aheadMs
  }

  at(time: number, fn: () => void): () => void {
    return this.#options.local.at(time - this.#aheadMs, fn)
  }

  stop(): void {
    this.#stopTimer()
  }

  /** The server reads its clock between request and answer, so the error is at most half of that time. */
  async #measure(): Promise<void> {
    const { local, serverTime } = this.#options
    let quickestMs = Number.POSITIVE_INFINITY
    let aheadMs = this.#aheadMs
    for (let i = 0; i < SAMPLES; i++) {
      const requestedAt = local.now()
      const server = await serverTime()
      const tookMs = local.now() - requestedAt
      if (tookMs >= quickestMs) continue
      quickestMs = tookMs
      aheadMs = Math.round(server - requestedAt - tookMs / 2)
    }
    this.#aheadMs = aheadMs
  }
}
