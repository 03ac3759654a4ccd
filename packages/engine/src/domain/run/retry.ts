// Computes when to retry: step attempts by the workflow's policy, failed passes by a budget of their own, and runs
// that no runner can take (docs/concepts.md#failures).

import type { RetryPolicy as WirePolicy } from '@perdure/protocol'
import type { RetryPolicy } from '../model/workflow.ts'

/** `jitter` is the random share of each delay, 0 to 1. */
export const DEFAULT_RETRY: Readonly<RetryPolicy> = {
  maxAttempts: 5,
  initialMs: 1000,
  factor: 2,
  maxMs: 300_000,
  jitter: 0.2,
}

/** Tries of one pass before the run fails, unless its workflow sets them. Any 2xx, checkpoint or resume resets the count. */
export const PASS_TRIES_DEFAULT = 8

const TRANSPORT_BACKOFF = { initialMs: 500, factor: 2, maxMs: 30_000, jitter: 0.2 }
const HOLD_MS_MIN = 1000
const HOLD_MS_MAX = 30_000

/** A registration's retry policy with every default filled in. */
export function completeRetry(policy: WirePolicy | undefined): RetryPolicy {
  return { ...DEFAULT_RETRY, ...policy }
}

/** Delay in ms after the n-th failed attempt (from 1), jittered both ways by `policy.jitter`, never above `maxMs`. */
export function backoffMs(policy: Omit<RetryPolicy, 'maxAttempts'>, failedAttempts: number, random: number): number {
  // Finite: 0 ms times infinity would be NaN.
  const growth = Math.min(Number.MAX_VALUE, policy.factor ** (failedAttempts - 1))
  const plain = Math.min(policy.maxMs, policy.initialMs * growth)
  return Math.round(Math.min(policy.maxMs, plain * (1 + policy.jitter * (2 * random - 1))))
}

/** Delay in ms after the n-th transport failure in a row (from 1). */
export function transportBackoffMs(failures: number, random: number): number {
  return backoffMs(TRANSPORT_BACKOFF, failures, random)
}

/** How long a run is held before the next search for a runner: half its age, between 1 s and 30 s. */
export function holdMs(ageMs: number): number {
  return Math.min(HOLD_MS_MAX, Math.max(HOLD_MS_MIN, Math.floor(ageMs / 2)))
}
