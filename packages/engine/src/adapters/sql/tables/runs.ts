// The row of a run, and the way there and back: what never changes, then what `run.moved` writes.

import type { CancelOn } from '../../../domain/model/flow-control.ts'
import type { Holds } from '../../../domain/model/holds.ts'
import {
  type Run,
  type RunError,
  type RunStatus,
  runDurationMs,
  type StepError,
  type WaitingFor,
} from '../../../domain/model/run.ts'
import { type Columns, fromFlag, fromJson, toFlag, toJson } from './columns.ts'
import type { Row } from './operations.ts'
import { inlinePayload, selectWithPayload } from './payloads.ts'

type RunFixed = [
  id: string,
  namespace: string,
  workflow: string,
  app: string,
  createdAt: number,
  triggerKind: Run['triggerKind'],
  eventName: string | null,
  eventId: string | null,
  cron: string | null,
  replayOf: string | null,
  parentRunId: string | null,
  parentStepIndex: number | null,
  runner: string | null,
  triggerId: string | null,
  triggerName: string,
  failure: string | null,
  input: string | null,
  singletonKey: string | null,
  cancelOn: string | null,
  holds: string | null,
  trace: string | null,
  priority: number | null,
  slot1: string | null,
  slot2: string | null,
  slot3: string | null,
]

type RunMoving = [
  status: RunStatus,
  fence: number,
  availableAt: number | null,
  leaseOwner: string | null,
  waitsForSlot: string | null,
  startQueue: string | null,
  leasedWithoutSlots: number | null,
  cancelRequested: number | null,
  heldForRunner: number | null,
  attempt: number,
  transportTries: number,
  startedAt: number | null,
  startedSeq: number | null,
  finishedAt: number | null,
  finishedSeq: number | null,
  durationMs: number,
  waitingFor: string | null,
  error: string | null,
  result: string | null,
]

const RUN_FIXED: Columns<RunFixed> = [
  'id',
  'namespace',
  'workflow',
  'app',
  'created_at',
  'trigger_kind',
  'event_name',
  'event_id',
  'cron',
  'replay_of',
  'parent_run_id',
  'parent_step_index',
  'runner',
  'trigger_id',
  'trigger_name',
  'failure',
  'input',
  'singleton_key',
  'cancel_on',
  'holds',
  'trace',
  'priority',
  'slot1',
  'slot2',
  'slot3',
]

/** The columns of `runMoves`. */
export const RUN_MOVING: Columns<RunMoving> = [
  'status',
  'fence',
  'available_at',
  'lease_owner',
  'waits_for_slot',
  'start_queue',
  'leased_without_slots',
  'cancel_requested',
  'held_for_runner',
  'attempt',
  'transport_tries',
  'started_at',
  'started_seq',
  'finished_at',
  'finished_seq',
  'duration_ms',
  'waiting_for',
  'error',
  'result',
]

export const RUN_COLUMNS: readonly string[] = [...RUN_FIXED, ...RUN_MOVING]
export const SELECT_RUN = selectWithPayload('runs', RUN_COLUMNS, 'input')

/** The same without the payloads, for lists. */
export const SELECT_RUN_SUMMARY = RUN_COLUMNS.map(column =>
  column === 'input' || column === 'result' ? 'NULL' : `runs.${column}`,
).join(', ')

export function runRow(run: Run): [...RunFixed, ...RunMoving] {
  return [
    run.id,
    run.namespace,
    run.workflow,
    run.app,
    run.createdAt,
    run.triggerKind,
    run.eventName ?? null,
    run.eventId ?? null,
    run.cron ?? null,
    run.replayOf ?? null,
    run.parentRunId ?? null,
    run.parentStepIndex ?? null,
    run.runner ?? null,
    run.trigger.id ?? null,
    run.trigger.name,
    toJson(run.failure),
    inlinePayload(run.input),
    run.singletonKey ?? null,
    toJson(run.cancelOn),
    toJson(run.holds),
    run.trace ?? null,
    run.priority ?? null,
    // Beside `holds`, for the indexes that slots are counted by.
    run.holds?.slots?.[0]?.id ?? null,
    run.holds?.slots?.[1]?.id ?? null,
    run.holds?.slots?.[2]?.id ?? null,
    ...runMoves(run),
  ]
}

export function runMoves(run: Run): RunMoving {
  return [
    run.status,
    run.fence,
    run.availableAt ?? null,
    run.leaseOwner ?? null,
    run.waitsForSlot ?? null,
    run.startQueue ?? null,
    toFlag(run.leasedWithoutSlots),
    toFlag(run.cancelRequested),
    // Lets the arrival of a runner find the runs it was missed by through a small index.
    toFlag(run.status === 'queued' && run.waitingFor?.kind === 'runner'),
    run.attempt,
    run.transportTries,
    run.startedAt ?? null,
    run.startedSeq ?? null,
    run.finishedAt ?? null,
    run.finishedSeq ?? null,
    // For the list's order alone, which counts a run without a duration as 0.
    runDurationMs(run) ?? 0,
    toJson(run.waitingFor),
    toJson(run.error),
    run.result ?? null,
  ]
}

/** Reads a row of `SELECT_RUN`; columns behind them are ignored. */
export function runFromRow(row: Row): Run {
  return withMoves(fixedFromRow(row as RunFixed), row.slice(RUN_FIXED.length) as RunMoving)
}

function fixedFromRow([
  id,
  namespace,
  workflow,
  app,
  createdAt,
  triggerKind,
  eventName,
  eventId,
  cron,
  replayOf,
  parentRunId,
  parentStepIndex,
  runner,
  triggerId,
  triggerName,
  failure,
  input,
  singletonKey,
  cancelOn,
  holds,
  trace,
  priority,
]: RunFixed): Partial<Run> {
  return {
    id,
    namespace,
    workflow,
    app,
    createdAt,
    triggerKind,
    eventName: eventName ?? undefined,
    eventId: eventId ?? undefined,
    cron: cron ?? undefined,
    replayOf: replayOf ?? undefined,
    parentRunId: parentRunId ?? undefined,
    parentStepIndex: parentStepIndex ?? undefined,
    runner: runner ?? undefined,
    trigger: triggerId === null ? { name: triggerName } : { id: triggerId, name: triggerName },
    failure: fromJson<StepError>(failure),
    input: input ?? undefined,
    singletonKey: singletonKey ?? undefined,
    cancelOn: fromJson<CancelOn[]>(cancelOn),
    holds: fromJson<Holds>(holds),
    trace: trace ?? undefined,
    priority: priority ?? undefined,
  }
}

/** Assigned one by one: merging two objects costs more than all the rest of reading a run. */
function withMoves(
  run: Partial<Run>,
  [
    status,
    fence,
    availableAt,
    leaseOwner,
    waitsForSlot,
    startQueue,
    leasedWithoutSlots,
    cancelRequested,
    _heldForRunner,
    attempt,
    transportTries,
    startedAt,
    startedSeq,
    finishedAt,
    finishedSeq,
    _durationMs,
    waitingFor,
    error,
    result,
  ]: RunMoving,
): Run {
  run.status = status
  run.fence = fence
  run.availableAt = availableAt ?? undefined
  run.leaseOwner = leaseOwner ?? undefined
  run.waitsForSlot = waitsForSlot ?? undefined
  run.startQueue = startQueue ?? undefined
  run.leasedWithoutSlots = fromFlag(leasedWithoutSlots)
  run.cancelRequested = fromFlag(cancelRequested)
  run.attempt = attempt
  run.transportTries = transportTries
  run.startedAt = startedAt ?? undefined
  run.startedSeq = startedSeq ?? undefined
  run.finishedAt = finishedAt ?? undefined
  run.finishedSeq = finishedSeq ?? undefined
  run.waitingFor = fromJson<WaitingFor>(waitingFor)
  run.error = fromJson<RunError>(error)
  run.result = result ?? undefined
  return run as Run
}
