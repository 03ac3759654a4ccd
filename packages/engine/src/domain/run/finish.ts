// Drafts everything that follows the end of a run, in the same commit: cancels open steps and children, notifies subscribed
// endpoints, answers the parent, and starts the follow-on run of a failed run with an onFailure handler.

import { asThrownError, type RunError, type StepError } from '@perdure/protocol'
import type { CatalogView } from '../model/catalog.ts'
import type { JsonText } from '../text/json-text.ts'
import { onFailureRun } from './create.ts'
import { cancelAtBirth, type Draft } from './draft.ts'
import { notifyRunEnded } from './notices.ts'

export type End =
  | { status: 'succeeded'; result?: JsonText }
  | { status: 'failed'; error: RunError }
  | { status: 'cancelled' }

/** Ends the drafted run. The draft must not change the run afterwards. */
export function finish(draft: Draft, end: End, catalog: CatalogView): void {
  cancelOutstanding(draft)
  draft.set({
    availableAt: undefined,
    leaseOwner: undefined,
    waitingFor: undefined,
    cancelRequested: undefined,
    ...(draft.run.lastFailure && { lastFailure: undefined }),
  })
  if (end.status === 'succeeded' && end.result !== undefined) draft.set({ result: end.result })
  if (end.status === 'failed') draft.set({ error: end.error })
  draft.move(end.status)
  notifyRunEnded(draft, catalog)
  answerParent(draft, end)
  if (end.status === 'failed') followFailure(draft, end.error, catalog)
}

function cancelOutstanding(draft: Draft): void {
  for (const step of [...draft.open.values()]) {
    draft.moveStep(step, { status: 'cancelled', finishedAt: draft.now, nextAttemptAt: undefined })
    const { childRunId: runId } = step
    // A child that this decision creates is created with the request.
    if (runId !== undefined && !cancelAtBirth(draft.changes, runId))
      draft.changes.push({ type: 'run.cancelRequested', runId, at: draft.now })
  }
}

function answerParent(draft: Draft, end: End): void {
  const { parentRunId, parentStepIndex } = draft.run
  if (parentRunId === undefined || parentStepIndex === undefined) return
  draft.changes.push({
    type: 'step.woken',
    runId: parentRunId,
    stepIndex: parentStepIndex,
    at: draft.now,
    ...(end.status === 'succeeded'
      ? { status: 'succeeded', data: end.result }
      : { status: 'failed', error: childError(draft.run.id, end) }),
  })
}

/** The error that the parent's handler sees. A code that only says where the child failed is left out. */
function childError(childRunId: string, end: Extract<End, { status: 'failed' | 'cancelled' }>): StepError {
  if (end.status === 'cancelled')
    return { name: 'ChildRunCancelledError', message: `Child run ${childRunId} was cancelled.` }
  const { code, ...error } = asThrownError(end.error)
  return code === undefined || CODES_OF_PLACES.includes(code) ? error : { ...error, code }
}

const CODES_OF_PLACES = ['step_failed', 'handler_failed']

/** Starts an on-failure run after any failure but that of another on-failure run. */
function followFailure(draft: Draft, error: RunError, catalog: CatalogView): void {
  const { run, now } = draft
  if (run.failure !== undefined || !catalog.workflow(run.app, run.workflow)?.onFailure) return
  draft.changes.push({ type: 'run.created', run: onFailureRun(run, error, now) })
}
