// StepRun: an attempt of a step that the runner has carried out. It succeeded, will be retried, or failed for good. And
// StepLimit: the step waits for its turn at a limit before its callback starts (docs/steps.md#limits-that-steps-share). Every
// attempt needs its own turn.

import { asRunError, quoteName, type RunError, type StepError } from '@perdure/protocol'
import { hasSentTurn } from '../../holds/turns.ts'
import { type LimitOfStep, nextAttempt, type Step } from '../../model/step.ts'
import type { RetryPolicy } from '../../model/workflow.ts'
import { catalogGuards } from '../../run/assumptions.ts'
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
      const fields = {
        attempt: nextAttempt(known),
        nextAttemptAt: undefined,
        wakeAt: undefined,
        status: 'succeeded' as const,
        finishedAt: draft.now,
        error: undefined,
        ...context.sent,
        ...ranTimes(opcode, context),
        ...dataOf(opcode.data),
        ...(opcode.rollback ? { rollback: true as const } : {}),
      }
      draft.moveStep(known, fields, startedBy(opcode, draft.now))
      return undefined
    }
    // This is the result of nearly every pass, so it is written out field by field, without a spread.
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
  const attempt = known ? nextAttempt(known) : 1
  const times = ranTimes(opcode, context)
  const write = (fields: Pick<Step, 'status'> & Partial<Step>) =>
    known
      ? draft.moveStep(
          known,
          { attempt, nextAttemptAt: undefined, error, ...context.sent, ...times, ...fields },
          startedBy(opcode, draft.now),
        )
      : draft.record({ ...firstAttempt(opcode, context.knowledge.asOf), attempt, error, ...times, ...fields })
  const ofWorkflow = context.catalog.workflow(draft.run.app, draft.run.workflow)?.retry
  const policy = opcode.retry ? completeRetry(opcode.retry) : (ofWorkflow ?? completeRetry(undefined))
  const spentAt = known?.spentAt ?? 0
  const tries = attempt - spentAt
  const isRetriable = opcode.retriable !== false && !isFinalError(policy, error)
  const { maxAttempts } = policy
  const bound = !isRetriable || maxAttempts === 'unlimited' ? {} : { maxAttempts: spentAt + maxAttempts }
  const delay = opcode.retryAfterMs ?? backoffMs(policy, tries, context.random())
  // Later than the time when the pass was sent: if a retry was due when a pass was sent and that pass did not report it, it
  // would never run.
  const nextAttemptAt = Math.max(draft.now + Math.ceil(delay), context.sentAt + 1)
  const endsAt = triesEndAt(policy, known, context.knowledge.asOf)
  if (isRetriable && tries < attemptsMax(policy) && nextAttemptAt <= (endsAt ?? Number.POSITIVE_INFINITY)) {
    write({ status: 'retrying', nextAttemptAt, wakeAt: endsAt, ...bound })
    // One more per pass, however many of its branches failed.
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

/** When `maxElapsed` ends the tries of a step. It counts from the first attempt, or from the resume that gave new tries. */
function triesEndAt({ maxElapsedMs }: RetryPolicy, known: Step | undefined, startedAt: number): number | undefined {
  if (maxElapsedMs === undefined) return undefined
  const isResumed = known?.spentAt === known?.attempt && known?.nextAttemptAt !== undefined
  if (isResumed) return (known?.nextAttemptAt as number) + maxElapsedMs
  // A step that waited for its first turn has had no attempt.
  const first = known && nextAttempt(known) > 1 ? known.startedAt : startedAt
  return known?.wakeAt ?? first + maxElapsedMs
}

/**
 * The times of an attempt, within its pass: clocks of runners run at their own speed, and the engine's clock may be set.
 * Empty if the runner did not measure.
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

/**
 * The latest time at which the attempt may have started: it has ended, and took as long as the runner reports, rounded to whole
 * milliseconds.
 */
function startedBy({ durationMs = 0 }: Pick<PassOpcodeOf<'StepRun'>, 'durationMs'>, now: number): number {
  return now - Math.max(0, Math.floor(durationMs) - 1)
}

const NOT_MEASURED: Pick<Step, 'ranAt' | 'ranMs'> = { ranAt: undefined, ranMs: undefined }

/** Maximum names that an error lists. */
const NAMES_SHOWN_MAX = 10

export const stepLimit: OpcodeRules<'StepLimit'> = {
  payload: null,
  runsOnRunner: true,
  parksFor: 'limit',
  whenDue: null,
  draft(pass, opcode, known) {
    // The step has its turn in this pass.
    if (known && hasSentTurn(known)) return undefined
    const { draft } = pass
    const { id, name, limit: limitName, key } = opcode
    const limit: LimitOfStep = { name: limitName, ...(key === undefined ? {} : { key }) }
    const error = refusalOf(pass, limitName)
    const end = error && { status: 'failed' as const, finishedAt: draft.now, error }
    const fields = { status: 'waiting' as const, limit, nextAttemptAt: undefined, turnAt: undefined, ...end }
    const first: Parameters<typeof draft.record>[0] = {
      id,
      name,
      op: 'StepRun',
      attempt: 1,
      startedAt: draft.now,
      ...fields,
    }
    const step: Step = known ? draft.moveStep(known, fields) : draft.record(first)
    if (!error) draft.askTurn(step)
    return undefined
  },
}

/** The error of a step whose limit the app does not have. Registrations that another engine has acknowledged count. */
function refusalOf({ draft, context }: DraftedPass, name: string): StepError | undefined {
  const { catalog, assumptions } = context
  const { app } = draft.run
  const limits = catalog.stepLimits(app)
  if (limits.has(name)) return undefined
  draft.guards.push(...catalogGuards(catalog, assumptions))
  const names = [...limits.keys()].sort()
  const shown = names.slice(0, NAMES_SHOWN_MAX).map(each => quoteName(each))
  const more = names.length > shown.length ? ` and ${names.length - shown.length} more` : ''
  const known = names.length === 0 ? 'it registers none' : `it registers ${shown.join(', ')}${more}`
  return { name: 'StepLimitError', message: `App ${quoteName(app)} has no limit ${quoteName(name)}: ${known}.` }
}
