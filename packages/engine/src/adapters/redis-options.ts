// The connection settings that every Redis client of the engine has: the wire's and the limiter's.

/** Longest time of a connection attempt and of a command: an event may wait for the answer. */
export const REDIS_TIMEOUT_MS = 2000

const RETRY_MS_MAX = 2000

/** How long a lost connection waits before attempt `tries`. */
export function redisRetryMs(tries: number): number {
  return Math.min(RETRY_MS_MAX, 50 * 2 ** Math.min(tries, 6))
}
