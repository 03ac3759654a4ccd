// The tables of roll-ups: ended runs in numbers, by the time of their ends. adapters/sql/rollups writes and reads them.

import type { RunStatus } from '../../../domain/model/run.ts'
import type { RollupSpan } from '../../../domain/view/rollup-span.ts'
import { integer, json, optional, since, text } from '../description/column.ts'
import { table } from '../description/table.ts'

/** Ended runs of one span of time: of a workflow, of an app (`workflow` is empty), or of a namespace (both are). */
export interface Rollup {
  span: RollupSpan
  namespace: string
  app: string
  workflow: string
  /** When the span begins, epoch ms. */
  at: number
  /** Runs created in the span that have ended. */
  started: number
  /** Runs that ended in the span. */
  succeeded: number
  failed: number
  cancelled: number
  /** The durations of the succeeded and failed runs. */
  sumMs: number
  histogram: Record<string, number>
  /** The times that ended runs waited for their first pass. */
  queueSumMs: number
  queueHistogram: Record<string, number>
  /** On-failure runs that ended in the span: no other number counts them. */
  onFailureSucceeded?: number
  onFailureFailed?: number
  onFailureCancelled?: number
  /** The same of cleanup runs. */
  cleanupSucceeded?: number
  cleanupFailed?: number
  cleanupCancelled?: number
}

export const RUN_ROLLUPS = table<Rollup>()('run_rollups', {
  key: ['span', 'namespace', 'app', 'workflow', 'at'],
  since: 2,
  fixed: {
    span: text,
    namespace: text,
    app: text,
    workflow: text,
    at: integer,
    started: integer,
    succeeded: integer,
    failed: integer,
    cancelled: integer,
    sumMs: integer,
    queueSumMs: integer,
    histogram: json,
    queueHistogram: json,
    onFailureSucceeded: since(3, optional(integer)),
    onFailureFailed: since(3, optional(integer)),
    onFailureCancelled: since(3, optional(integer)),
    cleanupSucceeded: since(3, optional(integer)),
    cleanupFailed: since(3, optional(integer)),
    cleanupCancelled: since(3, optional(integer)),
  },
  indexes: { run_rollups_by_age: { on: 'span, at' } },
})

/** For each final status the last run that the roll-ups have counted, by end time and then by id. */
export const ROLLUP_MARKS = table<{ status: RunStatus; endedAt: number; runId: string }>()('rollup_marks', {
  key: ['status'],
  since: 2,
  fixed: { status: text, endedAt: integer, runId: text },
})

/** Ends of runs that were removed before the roll-ups counted them. */
export const REMOVED_ENDS = table<{
  namespace: string
  app: string
  workflow: string
  status: RunStatus
  createdAt: number
  startedAt?: number
  finishedAt: number
  durationMs: number
  kind?: string
}>()('removed_ends', {
  position: 'position',
  since: 2,
  fixed: {
    namespace: text,
    app: text,
    workflow: text,
    status: text,
    createdAt: integer,
    startedAt: optional(integer),
    finishedAt: integer,
    durationMs: integer,
    kind: since(3, optional(text)),
  },
})

/** An ended run that the roll-ups have not counted. */
const IS_UNCOUNTED = `finished_at IS NOT NULL AND (late = 1 OR NOT EXISTS (SELECT 1 FROM rollup_marks AS m
    WHERE m.status = runs.status
      AND (m.ended_at > runs.finished_at OR (m.ended_at = runs.finished_at AND m.run_id >= runs.id))))`

/** The columns of ends, both of runs and of removed runs. */
export const END_COLUMNS = REMOVED_ENDS.columns.join(', ')

/** Keeps the ends of runs that the same transaction removes. Their ids follow in brackets. */
export const KEEP_ENDS = `INSERT INTO removed_ends (${END_COLUMNS})
  SELECT ${END_COLUMNS} FROM runs WHERE ${IS_UNCOUNTED} AND id IN`
