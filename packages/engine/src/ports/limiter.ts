// The Limiter port: counts what flow control lets through per key and time. Its state is not the store's: an engine
// alone keeps it in memory, several share a network service.

import type { Start } from '../domain/holds/throttle.ts'

/** A key's quota, and when it is asked for. The same key is always asked with the same policy's numbers. */
export interface Quota {
  /** Unique over namespaces, apps, workflows and policies (`limiterKey`). */
  key: string
  limit: number
  periodMs: number
  /** Epoch ms. A time before one the key has seen counts as that one. */
  now: number
}

/** A throttle's quota: see `Limiter.start`. */
export interface StartQuota extends Quota {
  burst: number
  /** False: only asks. */
  take: boolean
}

/**
 * Whoever forgets a key (a restart, a full memory) forgets it in the open direction: it is admitted as if it had been
 * quiet, so nothing is ever dropped or held without a reason. Rejects with EngineError `unavailable` when the service
 * behind it cannot be asked in time.
 */
export interface Limiter {
  /**
   * Takes one token: true for at most `limit` takes of the key in any window of `periodMs` (a sliding window, exact:
   * a take at t counts until just before t + periodMs). A take that is refused does not count. For `rateLimit`.
   */
  take(quota: Quota): Promise<boolean>
  /** Whether a take would be admitted now. Takes nothing. */
  peek(quota: Quota): Promise<boolean>
  /**
   * Takes the key's next start if it is free: starts are `periodMs / limit` apart, and after a quiet time `burst` more
   * may follow the first at once, so that any window of `periodMs` holds `limit + burst` at most (GCRA), and at most
   * those of `LATE_MS_MAX` before it besides. For `throttle`.
   */
  start(quota: StartQuota): Promise<Start>
  /** Numbers that it keeps in memory; absent where somebody else keeps them. */
  readonly entries?: number
  /** Present only where a network service stands behind it (contract §4.7). */
  ping?(): Promise<void>
  close(): Promise<void>
}
