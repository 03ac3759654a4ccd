// Limits a log line to once per key and minute. Used for lines that runners and expressions of users may cause any number of
// times.

import type { Clock } from '../../ports/clock.ts'

const LOG_AGAIN_AFTER_MS = 60_000
/** Keys in memory; when there are more, all are forgotten. */
const LOGGED_KEYS_MAX = 10_000

export class OncePerMinute {
  readonly #clock: Clock
  readonly #loggedAt = new Map<string, number>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Whether the line is due; if so, it counts as logged. */
  isDue(key: string): boolean {
    const now = this.#clock.elapsed()
    if (now - (this.#loggedAt.get(key) ?? Number.NEGATIVE_INFINITY) < LOG_AGAIN_AFTER_MS) return false
    if (this.#loggedAt.size >= LOGGED_KEYS_MAX) this.#loggedAt.clear()
    this.#loggedAt.set(key, now)
    return true
  }
}
