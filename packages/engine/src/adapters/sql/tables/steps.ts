// The table of steps.

import type { Step } from '../../../domain/model/step.ts'
import { flag, integer, json, matchJson, named, optional, since, text, unmapped } from '../description/column.ts'
import { table } from '../description/table.ts'
import { PASS_COLUMNS, RAN_COLUMNS } from './pass-columns.ts'

/** The steps that the end of a run settles. */
export const WAITS_FOR_RUN = `awaited_run_id IS NOT NULL AND status = 'waiting'`

const IS_PARKED = `namespace IS NOT NULL AND status = 'waiting'`

export const STEPS = table<Step>()('steps', {
  key: ['run_id', 'idx'],
  fixed: {
    runId: text,
    index: named('idx', integer),
    id: text,
    name: text,
    op: text,
    match: since(3, optional(matchJson)),
    matchKey: since(3, optional(text)),
  },
  moving: {
    status: text,
    attempt: integer,
    seq: integer,
    startedAt: integer,
    finishedAt: optional(integer),
    nextAttemptAt: optional(integer),
    wakeAt: optional(integer),
    eventName: optional(text),
    condition: optional(text),
    eventId: optional(text),
    childRunId: optional(text),
    startedRunId: since(3, optional(text)),
    awaitedRunId: since(3, optional(text)),
    deliveryId: optional(text),
    emittedEventId: optional(text),
    effects: since(3, optional(json)),
    childStart: since(3, optional(json)),
    carried: flag,
    timedOut: flag,
    settledBy: since(3, optional(json)),
    rollback: named('has_rollback', since(3, flag)),
    spentAt: optional(integer),
    limit: named('step_limit', since(3, optional(json))),
    turnAt: since(3, optional(integer)),
    maxAttempts: since(2, optional(integer)),
    ...PASS_COLUMNS,
    ...RAN_COLUMNS,
    // Only parked waits have it, so that events find them through a small index.
    namespace: unmapped(optional(text)),
    error: optional(json),
    // The last column, so that reading the others never follows its pages.
    data: optional(text),
  },
  indexes: {
    steps_waiting: { on: 'namespace, event_name', where: IS_PARKED, until: 3 },
    // Waits without a match have no key.
    steps_waiting_by_key: { on: 'namespace, event_name, match_key', where: IS_PARKED, since: 3 },
    steps_awaiting_run: { on: 'awaited_run_id', where: WAITS_FOR_RUN, since: 3 },
  },
})
