// Steps whose run has not started because no app has its workflow: they wait for a grace period, since a deploy may register it
// in a moment (docs/concepts.md#children). Called at each lease of a run with such a step.

import { type ChildStart, isSettled, type Step } from '../../model/step.ts'
import type { Draft } from '../../run/draft.ts'
import { isDue } from '../../run/state.ts'
import { type ChildContext, notRegistered, startChild } from './child-start.ts'
import { startRunOf } from './start-run.ts'

/** Starts the runs of steps whose workflow has been registered. Steps whose grace period is over fail. */
export function startWaiting(draft: Draft, context: ChildContext): void {
  for (const step of [...draft.open.values()]) {
    const { childStart } = step
    if (!childStart) continue
    const started = startOf(draft, { step, wanted: childStart }, context)
    if (started === 'unknown' && draft.now < childStart.until) continue
    const result = started === 'unknown' ? { error: notRegistered(childStart, context.catalog) } : started
    const ended = { finishedAt: draft.now, childStart: undefined }
    if ('error' in result) draft.moveStep(step, { status: 'failed', ...ended, ...result })
    else if ('childRunId' in result) draft.moveStep(step, { ...result, childStart: undefined })
    else draft.moveStep(step, { status: 'succeeded', ...ended, ...result })
  }
}

function startOf(draft: Draft, start: { step: Step; wanted: ChildStart }, context: ChildContext) {
  return start.wanted.direct ? startRunOf(draft, start, context) : startChild(draft, start, context)
}

/** Whether the run only waits for the workflow of a child: no step has settled, and no retry is due. */
export function onlyWaitsForChildren({ steps, open, now }: Draft): boolean {
  return !steps.some(({ status }) => isSettled(status)) && ![...open.values()].some(step => isDue(step, now))
}
