// Runs, steps, log lines and audit entries on the wire (docs/http-api.md#runs). Payloads keep their exact text.

import type { StepRecord, ControlAction as WireControlAction } from '@perdure/protocol'
import type { ControlAction } from '../../../domain/model/control-action.ts'
import type { LogLine } from '../../../domain/model/log-line.ts'
import type { Step } from '../../../domain/model/step.ts'
import { splice } from '../../../domain/text/json-splice.ts'
import type { JsonText } from '../../../domain/text/json-text.ts'
import { optionalTimestamp, timestamp } from '../../../domain/text/timestamp.ts'
import { type EveryField, runSummary } from '../../../domain/view/run-summary.ts'
import type { RunView } from '../../../ports/store-reads.ts'

/** The reply of `GET /runs/{id}`: the summary with the events of its buffer, `input` and `result`. */
export function runText(run: RunView): JsonText {
  return splice({ ...runSummary(run), eventIds: run.eventIds }, { input: run.input, result: run.result })
}

export function stepText(step: Step): JsonText {
  const head: EveryField<Omit<StepRecord, 'data'>> = {
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

export function controlActionText(entry: ControlAction): JsonText {
  const { id, action, runId, newRunId, actor, createdAt, detail } = entry
  const head: EveryField<Omit<WireControlAction, 'detail'>> = {
    id,
    action,
    runId,
    newRunId,
    actor,
    createdAt: timestamp(createdAt),
  }
  return splice(head, { detail })
}
