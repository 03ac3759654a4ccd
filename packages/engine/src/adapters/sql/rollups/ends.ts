// Ends of runs in groups, as SQL: the ends that the roll-ups count next, and the ends that they have not counted yet. Each end is
// in exactly one place: counted, behind the mark of its status and not late; or not counted, and then past the mark, late, or in
// `removed_ends`. Used by the lane that counts, and by reads.

import { TERMINAL_STATUSES } from '@perdure/protocol'
import type { RunKind } from '../../../domain/model/run.ts'
import { CLASS_ROUNDING, CLASSES_PER_LOG, type Durations } from '../../../domain/view/durations.ts'
import { SPAN_MS } from '../../../domain/view/rollup-span.ts'
import { emptyTally, type RunTally } from '../../../domain/view/run-tally.ts'
import type { RunScope } from '../../../ports/store-statistics.ts'
import { conditions } from '../description/conditions.ts'
import type { Query, Row, Value } from '../description/values.ts'
import { END_COLUMNS } from '../tables/ended-runs.ts'

/** A cancelled run, or one that never started, has no duration that says anything about its workflow. */
const RAN_MS = `CASE WHEN started_at IS NOT NULL AND status <> 'cancelled' THEN duration_ms END`
const QUEUE_MS = 'CASE WHEN started_at < created_at THEN 0 ELSE started_at - created_at END'
/** The class of a duration (domain/view/durations.ts). */
export const classOf = (ms: string) =>
  `CAST(floor(${CLASSES_PER_LOG} * ln(CAST(${ms} + 1 AS double precision)) + ${CLASS_ROUNDING}) AS bigint)`
const FINEST_MS = SPAN_MS['5m']

/** A part of a table with ends. */
export interface EndsFrom {
  table: 'runs' | 'removed_ends'
  where: string
  params: Value[]
}

const selected = ({ table, where }: EndsFrom) => `SELECT ${END_COLUMNS} FROM ${table} WHERE ${where}`

/** Rows for `endGroup` from rows of `END_COLUMNS`. */
const grouped = (ends: string) => `SELECT namespace, app, workflow, status,
    finished_at / ${FINEST_MS}, created_at / ${FINEST_MS}, ${classOf('ran_ms')}, ${classOf('queue_ms')},
    kind, count(*), CAST(sum(ran_ms) AS bigint), CAST(sum(queue_ms) AS bigint)
  FROM (SELECT ${END_COLUMNS}, ${RAN_MS} AS ran_ms, ${QUEUE_MS} AS queue_ms FROM (${ends}) AS ends) AS timed
  GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9`

/** The groups of the ends in a part of a table. */
export function endGroupsQuery(ends: EndsFrom): Query {
  return { sql: grouped(selected(ends)), params: ends.params }
}

/** Rows for `marksBefore`. */
export const MARKS_QUERY: Query = { sql: 'SELECT status, ended_at FROM rollup_marks', params: [] }

/** The time up to which the ends of each status were counted a moment ago. Marks only move ahead. */
export type MarksBefore = ReadonlyMap<string, number>

export function marksBefore(rows: readonly Row[]): MarksBefore {
  return new Map(rows as [string, number][])
}

/**
 * The groups of all ends of a namespace that the roll-ups have not counted yet. The marks of the same moment decide. The earlier
 * marks are for PostgreSQL's planner: it cannot guess how few ends are past a mark that it has not read, and would read all runs.
 */
export function uncountedQuery(namespace: string, { app, workflow }: RunScope, before: MarksBefore): Query {
  // The planner must not take an index by one of these names, which contains all runs.
  const scope = conditions({ "namespace || '' = ?": namespace, "app || '' = ?": app, "workflow || '' = ?": workflow })
  const parts: EndsFrom[] = [
    ...TERMINAL_STATUSES.map(status => {
      const mark = (column: string) => `(SELECT ${column} FROM rollup_marks WHERE status = '${status}')`
      const endedAt = `coalesce(${mark('ended_at')}, -1)`
      const where = `status = '${status}' AND finished_at IS NOT NULL AND finished_at >= ?
        AND finished_at >= ${endedAt} AND (finished_at > ${endedAt} OR id > ${mark('run_id')})`
      return { table: 'runs' as const, where, params: [before.get(status) ?? -1] }
    }),
    { table: 'runs', where: 'late = 1', params: [] },
    { table: 'removed_ends', where: '1 = 1', params: [] },
  ]
  return {
    sql: grouped(parts.map(part => `${selected(part)} AND ${scope.terms}`).join(' UNION ALL ')),
    params: parts.flatMap(({ params }) => [...params, ...scope.params]),
  }
}

/** Equal ends of one workflow, in the finest spans. */
export interface EndGroup {
  namespace: string
  app: string
  workflow: string
  runs: number
  endedAt: number
  /** Everything but `started`, which belongs to `createdAt`. */
  ended: RunTally
  createdAt: number
  /** How many of the runs count as started: follow-on runs do not. */
  started: number
}

export function endGroup(row: Row): EndGroup {
  const [namespace, app, workflow, status] = row as [string, string, string, (typeof TERMINAL_STATUSES)[number]]
  const [endSlot, createdSlot] = row.slice(4, 6) as [number, number]
  const [ranClass, queueClass] = row.slice(6, 8) as (number | null)[]
  const [kind, runs, sumMs, queueSumMs] = row.slice(8) as [
    Exclude<RunKind, 'run'> | null,
    number,
    number | null,
    number | null,
  ]
  const ended = emptyTally()
  if (kind) ended[kind][status] = runs
  else {
    ended[status] = runs
    addClass(ended.durations, ranClass, sumMs, runs)
    addClass(ended.queueTimes, queueClass, queueSumMs, runs)
  }
  return {
    namespace,
    app,
    workflow,
    runs,
    endedAt: endSlot * FINEST_MS,
    createdAt: createdSlot * FINEST_MS,
    started: kind ? 0 : runs,
    ended,
  }
}

function addClass(to: Durations, of: number | null | undefined, sumMs: number | null, runs: number): void {
  if (of === null || of === undefined) return
  to.sumMs += sumMs ?? 0
  to.counts.set(of, runs)
}
