// Decides what a lost pass costs its run when other passes of the runner were lost in the same moment. Any of them may have
// ended the process, so none spends a try at first. They are tried again in smaller and smaller groups, until the pass that
// ends the process is alone (docs/decisions/0026-a-step-that-ends-its-process.md). Called by ../advance.ts.

import type { Suspicion } from '../../model/run.ts'

/** Passes of one runner whose connections were lost in the same moment. */
export interface Loss {
  /** Their number, including this one. */
  together: number
  /** How many of them were suspects when they were sent. */
  suspects: number
  /** How long this pass had been under way. */
  ranMs: number
}

type Undated = Omit<Suspicion, 'lostAt'>

/** After each shared loss, at most this part of the group goes together again. */
const GROUP_PART = 4
/** Maximum losses that spend no try. On one engine, groups of one are reached long before. */
const FREE_LOSSES_MAX = 10

/**
 * The suspicion after a loss that spends no try; undefined when the loss spends one. After the first loss, all may go together
 * again: most processes end only once, by a deployment or a kill.
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

/** How long others wait for a suspect on trial: one and a half times the duration of the lost pass. */
export function trialMs({ ranMs }: Undated): number {
  return Math.min(TRIAL_MS_MAX, Math.max(TRIAL_MS_MIN, ranMs * 1.5))
}
