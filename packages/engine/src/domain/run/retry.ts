// Computes when to retry: step attempts by the workflow's policy, failed passes within a separate maximum of tries, and runs
// that no runner can take (docs/concepts.md#failures).

import {
  parseDurationMs,
  STEP_ATTEMPTS_DEFAULT,
  type StepError,
  type RetryPolicy as WirePolicy,
} from '@perdure/protocol'
import type { RetryPolicy } from '../model/workflow.ts'

/** `jitter` is the random share of each delay, 0 to 1. */
export const DEFAULT_RETRY: Readonly<RetryPolicy> = {
  maxAttempts: STEP_ATTEMPTS_DEFAULT,
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

/** The retry policy of a registration or an opcode with every default filled in. An invalid duration is left out. */
export function completeRetry({ maxElapsed, ...policy }: WirePolicy = {}): RetryPolicy {
  const maxElapsedMs = maxElapsed === undefined ? undefined : parseDurationMs(maxElapsed)
  return {
    ...DEFAULT_RETRY,
    ...policy,
    ...(maxElapsedMs === undefined ? {} : { maxElapsedMs: Math.ceil(maxElapsedMs) }),
  }
}

/** The maximum number of attempts as a comparable number. */
export function attemptsMax({ maxAttempts }: Pick<RetryPolicy, 'maxAttempts'>): number {
  return maxAttempts === 'unlimited' ? Number.POSITIVE_INFINITY : maxAttempts
}

/** Whether the policy names the error, by its name or its code. An error of a handler has the code among its fields. */
export function isFinalError(
  { nonRetriable }: Pick<RetryPolicy, 'nonRetriable'>,
  { name, code, fields }: Pick<StepError, 'name' | 'code' | 'fields'>,
): boolean {
  return nonRetriable?.some(one => one === name || one === code || one === String(fields?.code)) ?? false
}

type Backoff = Pick<RetryPolicy, 'initialMs' | 'factor' | 'maxMs' | 'jitter'>

/** Delay in ms after the n-th failed attempt (from 1), jittered both ways by `policy.jitter`, never above `maxMs`. */
export function backoffMs(policy: Backoff, failedAttempts: number, random: number): number {
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
