// Decides what a lost pass costs its run when other passes of the runner were lost in the same moment. Any of them may have ended the
// process, so none spends a try at first. They are tried apart, in ever smaller groups, until the one that ends the process is alone
// (docs/decisions/0026-a-step-that-ends-its-process.md). Called by ../advance.ts.

import type { Suspicion } from '../../model/run.ts'

/** Passes of one runner whose connections were lost in the same moment. */
export interface Loss {
  /** Their number, this one included. */
  together: number
  /** How many of them were suspects when they were sent. */
  suspects: number
  /** How long this one had been under way. */
  ranMs: number
}

type Undated = Omit<Suspicion, 'lostAt'>

/** Each shared loss lets at most this part of the group go together again. */
const GROUP_PART = 4
/** Losses that spend no try, at most. Groups of one are reached long before, on one engine. */
const FREE_LOSSES_MAX = 10

/**
 * The suspicion after a loss that spends no try; undefined when it spends one. The first loss lets all go together again: most
 * processes end once, by a deployment or a kill.
 */
export function freeLoss(earlier: Undated | undefined, { together, suspects, ranMs }: Loss): Undated | undefined {
  if (together === 1) return undefined
  if (!earlier) return { losses: 1, atOnce: together, ranMs }
  const { losses, atOnce } = earlier
  const wasApart = atOnce === 1 && suspects === 1
  if (wasApart || losses >= FREE_LOSSES_MAX) return undefined
  return { losses: losses + 1, atOnce: Math.max(1, Math.floor(Math.min(atOnce, together) / GROUP_PART)), ranMs }
}

const TRIAL_MS_MIN = 10_000
const TRIAL_MS_MAX = 600_000

/** How long others wait for a suspect that is tried: for as long as the lost pass ran, and half of that again. */
export function trialMs({ ranMs }: Undated): number {
  return Math.min(TRIAL_MS_MAX, Math.max(TRIAL_MS_MIN, ranMs * 1.5))
}
