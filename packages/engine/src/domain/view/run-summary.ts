// A run as the API shows it (docs/http-api/schemas.md#runsummary): in lists, in replies to control actions and in the payloads of
// run notices. Names every field, so that no internal field leaks.

import type { RunSummary, WaitingFor as WireWaitingFor } from '@perdure/protocol'
import { type Run, type RunKind, runDurationMs, runKind, type WaitingFor } from '../model/run.ts'
import { shownRunId } from '../text/ids.ts'
import { optionalTimestamp, timestamp } from '../text/timestamp.ts'

/** An object of the wire with every field named, present or not: if a field is forgotten, the code does not compile. */
export type EveryField<Wire> = { [Name in keyof Required<Wire>]: Wire[Name] }

/** The summary. Serialising it omits absent fields. */
export function runSummary(run: Run & { currentStepName?: string }): EveryField<RunSummary> {
  return {
    id: shownRunId(run.id),
    workflow: run.workflow,
    app: run.app,
    status: run.status,
    kind: followOnKind(runKind(run)),
    triggerKind: run.triggerKind,
    eventName: run.eventName,
    eventId: run.eventId,
    cron: run.cron,
    replayOf: shownRunId(run.replayOf),
    continuedFrom: shownRunId(run.continuedFrom),
    continuedAs: shownRunId(run.continuedAs),
    parentRunId: shownRunId(run.parentRunId),
    startedBy: run.startedBy && { ...run.startedBy, runId: shownRunId(run.startedBy.runId) },
    runner: run.runner,
    key: run.startKey,
    attempt: run.attempt,
    createdAt: timestamp(run.createdAt),
    startedAt: optionalTimestamp(run.startedAt),
    finishedAt: optionalTimestamp(run.finishedAt),
    durationMs: runDurationMs(run),
    currentStepName: run.currentStepName,
    error: run.error,
    waitingFor: run.waitingFor && waitingForText(run.waitingFor),
    attributes: run.attributes,
  }
}

/** The kind as the API shows it; the usual kind is left out. */
export function followOnKind(kind: RunKind): Exclude<RunKind, 'run'> | undefined {
  return kind === 'run' ? undefined : kind
}

/** The reason for a wait, as the wire shows it. */
export function waitingForText(waiting: WaitingFor): EveryField<WireWaitingFor> {
  const { kind, stepName, until, eventName, childRunId, runId, key, error, attempt, maxAttempts } = waiting
  const { signal, name, limit, spent } = waiting
  return {
    kind,
    stepName,
    until: optionalTimestamp(until),
    eventName,
    signal,
    childRunId,
    runId,
    name,
    limit,
    spent,
    key,
    error,
    attempt,
    maxAttempts,
  }
}
