// The Limiter port: counts what flow control admits per key and time. Its state is not in the store: a single engine keeps
// it in memory, several engines share a network service.

import type { Start } from '../domain/holds/throttle.ts'

/** The clocks of two engines differ by less than this, and one request overtakes another by less than this. */
export const SET_BACK_MS = 5000

/** One request for a key's quota. Every request of a key has the numbers of one policy. */
export interface Quota {
  /** Unique over namespaces, apps, workflows and policies (`flowRowId`). */
  key: string
  limit: number
  periodMs: number
  /**
   * Epoch ms. A time a little earlier than the newest one of the key counts as the newest. A time that is earlier by more than
   * `SET_BACK_MS` shows that the clock was set back: the limiter then forgets what was taken before that.
   */
  now: number
}

/** A throttle's quota: see `Limiter.start`. */
export interface StartQuota extends Quota {
  burst: number
  /** False: takes nothing, and only reports when the next start is free. */
  take: boolean
}

/**
 * A forgotten key (after a restart, or when the memory is full) is admitted as if nothing had been taken, so nothing is ever
 * dropped or held without a reason. Rejects with EngineError `unavailable` when the network service does not answer in time.
 */
export interface Limiter {
  /**
   * Takes one token: true for at most `limit` takes of the key in any window of `periodMs` (a sliding window, exact:
   * a take at t counts until just before t + periodMs). A refused take does not count. For `rateLimit`.
   */
  take(quota: Quota): Promise<boolean>
  /** Whether a take would be admitted now. Takes nothing. */
  peek(quota: Quota): Promise<boolean>
  /**
   * Takes the key's next start if it is free. Starts are `periodMs / limit` apart; after an idle time `burst` more may follow
   * the first at once. So a window of `periodMs` has at most `limit + burst` starts (GCRA), and additionally at most the starts
   * that came free within `LATE_MS_MAX` before it. For `throttle`.
   */
  start(quota: StartQuota): Promise<Start>
  /** How many numbers the limiter keeps in memory; absent where a network service keeps them. */
  readonly entries?: number
  /** Present only where a network service has the state: readiness checks it (docs/operating.md#probes). */
  ping?(): Promise<void>
  close(): Promise<void>
}
