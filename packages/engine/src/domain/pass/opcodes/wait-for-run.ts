// WaitForRun: a step that the end of another run settles (docs/steps.md#waiting-for-runs). A run that has ended settles it at
// once. Any other run is marked as awaited in the same commit, guarded by its fence, so that its end cannot be missed: the end
// either sees the mark, or makes this decision stale. An end makes the waits due, and each waiting run reads the end when it
// settles its own wait.

import { quoteName, type StepError } from '@perdure/protocol'
import { isTerminal } from '../../model/run.ts'
import type { Step } from '../../model/step.ts'
import type { Assumptions } from '../../run/assumptions.ts'
import type { Draft } from '../../run/draft.ts'
import { shownRunId } from '../../text/ids.ts'
import { runEndText } from '../../view/run-end.ts'
import type { OpcodeRules } from './opcode.ts'
import { recordFailed, recordSucceeded, recordWaiting } from './record.ts'

export const waitForRun: OpcodeRules<'WaitForRun'> = {
  payload: null,
  runsOnRunner: false,
  parksFor: 'run',
  whenDue: { data: 'null', timedOut: true },
  draft(pass, opcode) {
    const { draft, context } = pass
    const { runId: wanted, timeoutMs } = opcode
    const { namespace, id } = draft.run
    const newest = context.assumptions.newest.get(wanted)
    if (newest === undefined) {
      draft.questions.push({ type: 'newest', namespace, runId: wanted })
      return undefined
    }
    if (newest === null) return recordFailed(pass, opcode, noRun(wanted))
    if (newest.id === id) return recordFailed(pass, opcode, OWN_RUN)
    const awaitedRunId = newest.chainId ?? newest.id
    if (isTerminal(newest.status)) return recordSucceeded(pass, opcode, { awaitedRunId, data: runEndText(newest) })
    draft.guards.push({ type: 'run', runId: newest.id, fence: newest.fence })
    if (!newest.awaited) draft.changes.push({ type: 'run.marked', runId: newest.id, mark: 'awaited' })
    const wakeAt = timeoutMs === undefined ? undefined : draft.now + Math.ceil(timeoutMs)
    return recordWaiting(pass, opcode, { awaitedRunId, wakeAt })
  },
}

/**
 * How a due wait ends: with the end of its run, or with an error if that run has been removed since. Undefined: the awaited run
 * has not ended, so the wait has timed out; or the question for that run has no answer yet.
 */
export function endOfWait(
  draft: Draft,
  awaitedRunId: string,
  known: Assumptions['newest'],
): Pick<Step, 'status' | 'data' | 'error'> | undefined {
  const newest = known.get(awaitedRunId)
  if (newest === undefined) {
    draft.questions.push({ type: 'newest', namespace: draft.run.namespace, runId: awaitedRunId })
    return undefined
  }
  if (newest === null) return { status: 'failed', error: noRun(shownRunId(awaitedRunId)) }
  return isTerminal(newest.status) ? { status: 'succeeded', data: runEndText(newest) } : undefined
}

/** The error for a run that does not exist. It is the same for a run of another namespace. */
export function noRun(runId: string): StepError {
  return { name: 'RunNotFoundError', message: `There is no run ${quoteName(runId)}.`, code: 'not_found' }
}

const OWN_RUN: StepError = { name: 'RunNotFoundError', message: 'A run cannot wait for its own end.', code: 'conflict' }
