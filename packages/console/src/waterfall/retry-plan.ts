// The steps that a retry from a step keeps, and those that it executes again. The engine makes the same decision for the fork: of
// the steps before the named one it keeps results, and failures that the handler caught.

import type { WaterfallStep } from './model.ts'

export interface RetryPlan {
  carried: readonly WaterfallStep[]
  rerun: readonly WaterfallStep[]
}

/** Returns the plan for a retry of a finished run from the step `from`. `endedBy` is the step that the run's error names. */
export function retryPlan(steps: readonly WaterfallStep[], from: WaterfallStep, endedBy?: string): RetryPlan {
  const failed = steps.filter(({ status, name }) => status === 'failed' && name === endedBy)
  const ending = failed[failed.length - 1]
  const isCarried = (step: WaterfallStep) => {
    if (step.index >= from.index) return false
    if (step.status === 'succeeded') return true
    if (step.status !== 'failed') return false
    return ending === undefined || (step.finishedAt ?? '') < (ending.finishedAt ?? '')
  }
  return { carried: steps.filter(isCarried), rerun: steps.filter(step => !isCarried(step)) }
}
