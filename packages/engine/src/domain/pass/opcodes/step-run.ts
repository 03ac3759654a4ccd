// StepRun: an attempt of a step that the runner has carried out. It succeeded, is to be retried, or failed for good.

import { asRunError, type RunError } from '@perdure/protocol'
import type { Step } from '../../model/step.ts'
import type { RetryPolicy } from '../../model/workflow.ts'
import type { Draft } from '../../run/draft.ts'
import { pauseForFailure, pausesWhenExhausted } from '../../run/exhausted.ts'
import { notifyStepFailed } from '../../run/notices.ts'
import { attemptsMax, backoffMs, completeRetry, isFinalError } from '../../run/retry.ts'
import type { PassContext } from './context.ts'
import type { DraftedPass, OpcodeRules, PassOpcodeOf } from './opcode.ts'
import { dataOf, firstAttempt } from './record.ts'
import { stepErrorOf } from './step-error.ts'

export const stepRun: OpcodeRules<'StepRun'> = {
  payload: 'data',
  runsOnRunner: true,
  parksFor: 'retry',
  whenDue: null,
  draft(pass, opcode, known) {
    const { draft, context } = pass
    if (opcode.spent) draft.spend(opcode.spent)
    if (opcode.error) return draftFailure(pass, opcode, known)
    if (known) {
      draft.moveStep(known, {
        attempt: known.attempt + 1,
        nextAttemptAt: undefined,
        wakeAt: undefined,
        status: 'succeeded',
        finishedAt: draft.now,
        error: undefined,
        ...context.sent,
        ...ranTimes(opcode, context),
        ...dataOf(opcode.data),
        ...(opcode.rollback ? { rollback: true } : {}),
      })
      return undefined
    }
    // The result of nearly every pass: written out field by field, without a spread.
    const { id, name, op } = opcode
    const step: Parameters<Draft['record']>[0] = {
      id,
      name,
      op,
      attempt: 1,
      startedAt: context.knowledge.asOf,
      status: 'succeeded',
      finishedAt: draft.now,
    }
    if (opcode.data !== undefined) step.data = opcode.data
    if (opcode.rollback) step.rollback = true
    if (opcode.offsetMs !== undefined) Object.assign(step, ranTimes(opcode, context))
    draft.record(step)
    return undefined
  },
}

function draftFailure(
  pass: DraftedPass,
  opcode: PassOpcodeOf<'StepRun'>,
  known: Step | undefined,
): RunError | undefined {
  const { draft, context } = pass
  const error = stepErrorOf(opcode.error as NonNullable<typeof opcode.error>)
  const attempt = (known?.attempt ?? 0) + 1
  const times = ranTimes(opcode, context)
  const write = (fields: Pick<Step, 'status'> & Partial<Step>) =>
    known
      ? draft.moveStep(known, { attempt, nextAttemptAt: undefined, error, ...context.sent, ...times, ...fields })
      : draft.record({ ...firstAttempt(opcode, context.knowledge.asOf), attempt, error, ...times, ...fields })
  const ofWorkflow = context.catalog.workflow(draft.run.app, draft.run.workflow)?.retry
  const policy = opcode.retry ? completeRetry(opcode.retry) : (ofWorkflow ?? completeRetry(undefined))
  const spentAt = known?.spentAt ?? 0
  const tries = attempt - spentAt
  const isRetriable = opcode.retriable !== false && !isFinalError(policy, error)
  const { maxAttempts } = policy
  const bound = !isRetriable || maxAttempts === 'unlimited' ? {} : { maxAttempts: spentAt + maxAttempts }
  const delay = opcode.retryAfterMs ?? backoffMs(policy, tries, context.random())
  // After the moment the pass was sent: a retry that was due when a pass was sent, and was not reported by it, would
  // never be taken.
  const nextAttemptAt = Math.max(draft.now + Math.ceil(delay), context.sentAt + 1)
  const endsAt = triesEndAt(policy, known, context.knowledge.asOf)
  if (isRetriable && tries < attemptsMax(policy) && nextAttemptAt <= (endsAt ?? Number.POSITIVE_INFINITY)) {
    write({ status: 'retrying', nextAttemptAt, wakeAt: endsAt, ...bound })
    // One more for the pass, however many of its branches failed.
    draft.set({ attempt: context.sentAttempt + 1 })
    return undefined
  }
  const pauses = isRetriable && pausesWhenExhausted(draft.run, context.catalog)
  const failed = write({
    status: 'failed',
    finishedAt: draft.now,
    wakeAt: undefined,
    ...bound,
    ...(pauses ? { spentAt: attempt } : {}),
  })
  notifyStepFailed(draft, failed, context.catalog)
  if (opcode.catchable) return undefined
  const failure: RunError = asRunError(error, 'step_failed', opcode.name)
  if (!pauses) return failure
  pauseForFailure(draft, failure, failed)
  return undefined
}

/** When the tries of a step end by `maxElapsed`. It counts from the first attempt, or from the resume that gave new tries. */
function triesEndAt({ maxElapsedMs }: RetryPolicy, known: Step | undefined, startedAt: number): number | undefined {
  if (maxElapsedMs === undefined) return undefined
  const isResumed = known?.spentAt === known?.attempt && known?.nextAttemptAt !== undefined
  if (isResumed) return (known?.nextAttemptAt as number) + maxElapsedMs
  return known?.wakeAt ?? (known?.startedAt ?? startedAt) + maxElapsedMs
}

/**
 * The times of an attempt, within its pass: clocks of runners run at their own speed, and the engine's may be set. Nothing
 * that the runner did not measure.
 */
export function ranTimes(
  { offsetMs, durationMs }: Pick<PassOpcodeOf<'StepRun'>, 'offsetMs' | 'durationMs'>,
  { sent, now }: Pick<PassContext, 'sent' | 'now'>,
): Pick<Step, 'ranAt' | 'ranMs'> {
  if (!sent || offsetMs === undefined || durationMs === undefined) return NOT_MEASURED
  const sentAt = Math.min(sent.passSentAt, now)
  const ranAt = Math.min(now, sentAt + Math.round(offsetMs))
  return { ranAt, ranMs: Math.min(now - ranAt, Math.round(durationMs)) }
}

const NOT_MEASURED: Pick<Step, 'ranAt' | 'ranMs'> = { ranAt: undefined, ranMs: undefined }
