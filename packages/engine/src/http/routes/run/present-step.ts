// Steps and their attempts on the wire (docs/http-api/schemas.md#steprecord). Results keep their exact text.

import type { StepRecord, StepAttempt as WireAttempt } from '@perdure/protocol'
import { cutText } from '@perdure/protocol'
import { isAtLimit } from '../../../domain/holds/turns.ts'
import { wireTriggered } from '../../../domain/model/event.ts'
import type { Step } from '../../../domain/model/step.ts'
import { shownRunId } from '../../../domain/text/ids.ts'
import { splice } from '../../../domain/text/json-splice.ts'
import type { JsonText } from '../../../domain/text/json-text.ts'
import { signalOf } from '../../../domain/text/name.ts'
import { optionalTimestamp, timestamp } from '../../../domain/text/timestamp.ts'
import type { EveryField } from '../../../domain/view/run-summary.ts'
import type { StepAttempt } from '../../../domain/view/step-attempts.ts'

/** The longest message of an error in a summary or a list, in code points. */
const MESSAGE_CHARS_MAX = 200

export function stepText(step: Step): JsonText {
  return splice(stepHead(step), { data: step.data })
}

/** The step without its result, and with a short error. */
export function stepSummaryText(step: Step): JsonText {
  const head = stepHead(step)
  return JSON.stringify(head.error ? { ...head, error: shortError(head.error) } : head)
}

export function stepDetailText(step: Step, attempts: readonly StepAttempt[]): JsonText {
  return splice({ ...stepHead(step), attempts: attempts.map(attemptView) }, { data: step.data })
}

function attemptView(ended: StepAttempt): EveryField<WireAttempt> {
  const { attempt, status, endedAt, error } = ended
  return { attempt, status, endedAt: timestamp(endedAt), ...reportView(ended), error }
}

/** The times measured by the runner, and the pass that reported them. */
function reportView({ ranAt, ranMs, runner, pass }: Pick<StepAttempt, 'ranAt' | 'ranMs' | 'runner' | 'pass'>) {
  return { ranAt: optionalTimestamp(ranAt), ranMs, runner, pass }
}

function stepHead(step: Step): EveryField<Omit<StepRecord, 'data'>> {
  const signal = signalOf(step.eventName)
  return {
    id: step.id,
    name: step.name,
    op: step.op,
    index: step.index,
    status: step.status,
    attempt: step.attempt,
    maxAttempts: step.maxAttempts,
    startedAt: timestamp(step.startedAt),
    finishedAt: optionalTimestamp(step.finishedAt),
    durationMs: step.finishedAt === undefined ? undefined : step.finishedAt - step.startedAt,
    ...reportView(step),
    error: step.error,
    nextAttemptAt: optionalTimestamp(isAtLimit(step) ? undefined : step.nextAttemptAt),
    wakeAt: optionalTimestamp(step.wakeAt),
    eventName: signal === undefined ? step.eventName : undefined,
    match: step.match,
    signal,
    childRunId: step.childRunId,
    startedRunId: step.startedRunId && shownRunId(step.startedRunId),
    awaitedRunId: step.awaitedRunId && shownRunId(step.awaitedRunId),
    deliveryId: step.deliveryId,
    emittedEventId: step.emittedEventId,
    effects: step.effects && { ...step.effects, triggered: wireTriggered(step.effects.triggered) },
    carried: step.carried,
    timedOut: step.timedOut,
    settledBy: step.settledBy && { ...step.settledBy, at: timestamp(step.settledBy.at) },
    rollback: step.rollback,
    limit: step.limit,
  }
}

/** The error with a short message, and without its stack. */
export function shortError<Failure extends { message: string; stack?: string | undefined }>(
  error: Failure,
): Omit<Failure, 'stack'> {
  const { stack, ...rest } = error
  return { ...rest, message: briefMessage(rest) }
}

export function briefMessage({ message }: { message: string }): string {
  return cutText(message, MESSAGE_CHARS_MAX)
}
