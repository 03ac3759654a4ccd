// Sentences that explain the effect of an action. Pure.

import { isSettledStep, type WaterfallStep } from '../../../waterfall/model.ts'
import type { RetryPlan } from '../../../waterfall/retry-plan.ts'

const count = (n: number, one: string) => `${n} ${one}${n === 1 ? '' : 's'}`

/** The children that a cancel ends, including theirs; `isCut` if there are more than were counted. */
export interface OpenChildren {
  count: number
  isCut: boolean
}

/**
 * Explains the effect of cancelling, pausing or resuming on a run with these steps. Children that are not yet counted are named.
 */
export function controlSentence(
  action: 'cancel' | 'pause' | 'resume',
  steps: readonly WaterfallStep[],
  { children, cleansUp = true }: { children?: OpenChildren | undefined; cleansUp?: boolean } = {},
): string {
  const open = steps.filter(({ status }) => !isSettledStep(status))
  const direct = open.filter(({ childRunId }) => childRunId !== undefined).length
  switch (action) {
    case 'cancel': {
      const also = [
        ...(open.length > 0 ? [`${count(open.length, 'open step')}`] : []),
        ...(direct > 0 ? [childrenText(direct, children)] : []),
      ]
      const with_ = also.length === 0 ? '' : `, with ${also.join(' and ')}`
      return `The run is cancelled${with_}. ${undoneText(steps, cleansUp)} You cannot reverse this, but you can replay the run.`
    }
    case 'pause':
      return 'The current step finishes and is stored. No further steps start until the run is resumed. Timers and events are still recorded.'
    case 'resume':
      return 'The run is queued and continues from its next step, with the stored results.'
  }
}

/** Lists the completed steps that the cancel undoes. */
function undoneText(steps: readonly WaterfallStep[], cleansUp: boolean): string {
  const undone = steps.filter(({ status, rollback }) => cleansUp && rollback === true && status === 'succeeded').length
  if (undone === 0) return 'Completed steps are not undone.'
  return `${count(undone, 'completed step')} with a rollback ${undone === 1 ? 'is' : 'are'} undone.`
}

function childrenText(direct: number, children: OpenChildren | undefined): string {
  if (children === undefined) return `${count(direct, 'child run')} and their descendants`
  return `${children.isCut ? 'at least ' : ''}${count(Math.max(children.count, direct), 'child run')}`
}

/** Explains what a retry from a step keeps and what it executes again. */
export function retrySentence({ carried, rerun }: RetryPlan, stepName: string): string {
  const kept = carried.length === 0 ? 'keeps no result' : `keeps the results of ${count(carried.length, 'step')}`
  return `A new run ${kept} and executes “${stepName}” and everything after it again (${count(rerun.length, 'step')} of this run). This run is not changed.`
}
