// A run as everybody outside sees it: in lists, in the answers of control actions and in the payloads of lifecycle
// deliveries (contract §2.1, decisions "Run"). Names every field: nothing internal can slip out.

import type { RunSummary, WaitingFor as WireWaitingFor } from '@perdure/protocol'
import { type Run, runDurationMs, type WaitingFor } from '../model/run.ts'
import { optionalTimestamp, timestamp } from '../text/timestamp.ts'

/** Absent fields are left out when it is serialised. */
export function runSummary(run: Run & { currentStepName?: string }): RunSummary {
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
    waitingFor: run.waitingFor && waitingForText(run.waitingFor),
  }
}

/** What a run waits for, as the wire shows it. */
export function waitingForText(waiting: WaitingFor): WireWaitingFor {
  const { kind, stepName, until, eventName, childRunId, key, error } = waiting
  return { kind, stepName, until: optionalTimestamp(until), eventName, childRunId, key, error }
}
