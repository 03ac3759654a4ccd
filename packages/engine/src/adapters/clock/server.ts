// The clock of engines that share a database: every one of them goes by the database's time, so that nobody's lease runs
// out early because another machine's clock is ahead.

import type { Clock } from '../../ports/clock.ts'

/** Clocks of machines drift by a millisecond in a minute or so, and jump when they are set. */
const MEASURE_EVERY_MS = 30_000
/** Questions asked at each measurement: that with the quickest answer counts, which on a busy machine is far the best. */
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
  /** How far the server's clock is ahead of ours. */
  #aheadMs = 0
  #stopTimer: () => void = () => {}

  private constructor(options: ServerClockOptions) {
    this.#options = options
  }

  /** A clock that has asked the server once and asks again from time to time, until stopped. */
  static async follow(options: ServerClockOptions): Promise<ServerClock> {
    const clock = new ServerClock(options)
    await clock.#measure()
    clock.#schedule()
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

  #schedule(): void {
    const { local, onError } = this.#options
    this.#stopTimer = local.at(local.now() + MEASURE_EVERY_MS, () => {
      this.#schedule()
      this.#measure().catch(onError)
    })
  }

  /** An answer was made between its question and its arrival; half of that is how wrong it can be. */
  async #measure(): Promise<void> {
    const { local, serverTime } = this.#options
    let quickestMs = Number.POSITIVE_INFINITY
    let aheadMs = this.#aheadMs
    for (let i = 0; i < SAMPLES; i++) {
      const askedAt = local.now()
      const server = await serverTime()
      const tookMs = local.now() - askedAt
      if (tookMs >= quickestMs) continue
      quickestMs = tookMs
      aheadMs = Math.round(server - askedAt - tookMs / 2)
    }
    this.#aheadMs = aheadMs
  }
}
