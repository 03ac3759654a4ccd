// Keeps the log from saying the same over and over: once per key and minute. Used by what logs the faults of others,
// which come as often as they like.

import type { Clock } from '../../ports/clock.ts'

const QUIET_MS = 60_000
/** Keys that are remembered as logged; beyond it the memory starts anew. */
const REMEMBERED_MAX = 10_000

export class OncePerMinute {
  readonly #clock: Clock
  readonly #loggedAt = new Map<string, number>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Whether this is to be logged now; if so, it counts as logged. */
  isDue(key: string): boolean {
    const now = this.#clock.now()
    if (now - (this.#loggedAt.get(key) ?? Number.NEGATIVE_INFINITY) < QUIET_MS) return false
    if (this.#loggedAt.size >= REMEMBERED_MAX) this.#loggedAt.clear()
    this.#loggedAt.set(key, now)
    return true
  }
}
