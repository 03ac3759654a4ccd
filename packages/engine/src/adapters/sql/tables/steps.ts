// The row of a step, and the way there and back. `steps.namespace`, which only parked waits have, is no part of it.

import type { Op, Step, StepStatus } from '../../../domain/model/step.ts'
import { type Columns, fromFlag, fromJson, toFlag, toJson } from './columns.ts'
import type { Row } from './operations.ts'

type StepFixed = [runId: string, index: number, id: string, name: string, op: Op]

type StepMoving = [
  status: StepStatus,
  attempt: number,
  seq: number,
  startedAt: number,
  finishedAt: number | null,
  nextAttemptAt: number | null,
  wakeAt: number | null,
  eventName: string | null,
  condition: string | null,
  eventId: string | null,
  childRunId: string | null,
  deliveryId: string | null,
  emittedEventId: string | null,
  carried: number | null,
  timedOut: number | null,
  error: string | null,
  data: string | null,
]

const STEP_FIXED: Columns<StepFixed> = ['run_id', 'idx', 'id', 'name', 'op']

/** The columns of `stepMoves`. `data` is the very last, so that reading the others never follows its pages. */
export const STEP_MOVING: Columns<StepMoving> = [
  'status',
  'attempt',
  'seq',
  'started_at',
  'finished_at',
  'next_attempt_at',
  'wake_at',
  'event_name',
  'condition',
  'event_id',
  'child_run_id',
  'delivery_id',
  'emitted_event_id',
  'carried',
  'timed_out',
  'error',
  'data',
]

export const STEP_COLUMNS: readonly string[] = [...STEP_FIXED, ...STEP_MOVING]

export function stepRow(step: Step): [...StepFixed, ...StepMoving] {
  return [step.runId, step.index, step.id, step.name, step.op, ...stepMoves(step)]
}

export function stepMoves(step: Step): StepMoving {
  return [
    step.status,
    step.attempt,
    step.seq,
    step.startedAt,
    step.finishedAt ?? null,
    step.nextAttemptAt ?? null,
    step.wakeAt ?? null,
    step.eventName ?? null,
    step.condition ?? null,
    step.eventId ?? null,
    step.childRunId ?? null,
    step.deliveryId ?? null,
    step.emittedEventId ?? null,
    toFlag(step.carried),
    toFlag(step.timedOut),
    toJson(step.error),
    step.data ?? null,
  ]
}

/** Reads a row of `STEP_COLUMNS`. */
export function stepFromRow(row: Row): Step {
  const [
    runId,
    index,
    id,
    name,
    op,
    status,
    attempt,
    seq,
    startedAt,
    finishedAt,
    nextAttemptAt,
    wakeAt,
    eventName,
    condition,
    eventId,
    childRunId,
    deliveryId,
    emittedEventId,
    carried,
    timedOut,
    error,
    data,
  ] = row as [...StepFixed, ...StepMoving]
  return {
    runId,
    id,
    name,
    op,
    index,
    status,
    attempt,
    seq,
    startedAt,
    finishedAt: finishedAt ?? undefined,
    nextAttemptAt: nextAttemptAt ?? undefined,
    wakeAt: wakeAt ?? undefined,
    eventName: eventName ?? undefined,
    condition: condition ?? undefined,
    eventId: eventId ?? undefined,
    childRunId: childRunId ?? undefined,
    deliveryId: deliveryId ?? undefined,
    emittedEventId: emittedEventId ?? undefined,
    carried: fromFlag(carried),
    timedOut: fromFlag(timedOut),
    error: fromJson<NonNullable<Step['error']>>(error),
    data: data ?? undefined,
  }
}
