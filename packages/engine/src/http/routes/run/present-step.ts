// Step records and log lines on the wire (contract §2.2, decisions "Step record").

import type { StepRecord } from '@perdure/protocol'
import type { LogLine } from '../../../domain/model/log-line.ts'
import type { Step } from '../../../domain/model/step.ts'
import { splice } from '../../../domain/text/json-splice.ts'
import type { JsonText } from '../../../domain/text/json-text.ts'
import { optionalTimestamp, timestamp } from '../../../domain/text/timestamp.ts'

export function stepText(step: Step): JsonText {
  const head: StepRecord = {
    id: step.id,
    name: step.name,
    op: step.op,
    index: step.index,
    status: step.status,
    attempt: step.attempt,
    startedAt: timestamp(step.startedAt),
    finishedAt: optionalTimestamp(step.finishedAt),
    durationMs: step.finishedAt === undefined ? undefined : step.finishedAt - step.startedAt,
    error: step.error,
    nextAttemptAt: optionalTimestamp(step.nextAttemptAt),
    wakeAt: optionalTimestamp(step.wakeAt),
    eventName: step.eventName,
    childRunId: step.childRunId,
    deliveryId: step.deliveryId,
    emittedEventId: step.emittedEventId,
    carried: step.carried,
    timedOut: step.timedOut,
  }
  return splice(head, { data: step.data })
}

export function logLineText(line: LogLine): JsonText {
  const { seq, ts, level, message, scope, attempt, fields } = line
  return splice({ seq, ts: timestamp(ts), level, message, scope, attempt }, { fields })
}
