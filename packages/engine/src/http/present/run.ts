// Runs on the wire (contract §2.1, decisions "Run"). Names every field: nothing internal can slip out.

import type { RunSummary, WaitingFor as WireWaitingFor } from '@perdure/protocol'
import type { JsonText } from '../../domain/json-text.ts'
import { runDurationMs, type WaitingFor } from '../../domain/run.ts'
import type { RunView } from '../../ports/store.ts'
import { splice } from './splice.ts'
import { optionalTimestamp, timestamp } from './timestamp.ts'

/** A list item, and the answer of a control action. Absent fields are left out when it is serialised. */
export function runSummary(run: RunView): RunSummary {
  return {
    id: run.id,
    workflow: run.workflow,
    app: run.app,
    status: run.status,
    triggerKind: run.triggerKind,
    eventName: run.eventName,
    eventId: run.eventId,
    cron: run.cron,
    replayOf: run.replayOf,
    parentRunId: run.parentRunId,
    runner: run.runner,
    attempt: run.attempt,
    createdAt: timestamp(run.createdAt),
    startedAt: optionalTimestamp(run.startedAt),
    finishedAt: optionalTimestamp(run.finishedAt),
    durationMs: runDurationMs(run),
    currentStepName: run.currentStepName,
    error: run.error,
    waitingFor: run.waitingFor && waitingFor(run.waitingFor),
  }
}

/** `GET /runs/{id}`: the summary with `input` and `result`. */
export function runText(run: RunView): JsonText {
  return splice(runSummary(run), { input: run.input, result: run.result })
}

function waitingFor(waiting: WaitingFor): WireWaitingFor {
  const { kind, stepName, until, eventName, childRunId, key } = waiting
  return { kind, stepName, until: optionalTimestamp(until), eventName, childRunId, key }
}
