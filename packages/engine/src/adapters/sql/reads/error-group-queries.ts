// Groups of failed runs by the fingerprint of their error (docs/errors.md#fingerprints), with their numbers over time. Called by
// the reads. One index has all the counted columns.

import { setImmediate as nextTurn } from 'node:timers/promises'
import { errorState, type StoredState } from '../../../domain/model/document/error-state.ts'
import type { RunKind } from '../../../domain/model/run.ts'
import type { PassSent } from '../../../domain/model/step.ts'
import type { ErrorGroup, ErrorGroupsQuery, Trend } from '../../../ports/store-statistics.ts'
import { conditions } from '../description/conditions.ts'
import type { Query, Row, Value } from '../description/values.ts'

/** Most failures that are grouped: the newest ones. */
const FAILURES_MAX = 20_000

/** The groups, the largest first, each with the error of its last run and, if the query wants them, its trend and its runners. */
export async function errorGroupsOf(
  read: (query: Query) => Promise<Row[]>,
  namespace: string,
  query: ErrorGroupsQuery,
): Promise<ErrorGroup[]> {
  const rows = await read(errorGroupsQuery(namespace, query))
  if (rows.length === 0) return []
  const [lasts, firsts] = [await read(lastErrorsQuery(rows)), await read(firstEndsQuery(namespace, rows))]
  const groups = errorGroups(rows, lasts, firsts)
  const { trend, runners } = query
  const trends = trend && trendsOf(groups, await read(trendsQuery(namespace, { ...query, trend }, rows)), trend)
  const counts = runners && (await runnersOf(await read(runnersQuery(namespace, query, rows))))
  return groups.map(group => {
    const key = keyOf(group)
    const largest = counts && largestRunners(counts.get(key), runners)
    return { ...group, ...(trends && { trend: trends.get(key) as number[] }), ...(largest && { runners: largest }) }
  })
}

/** Selects the groups of a state, by their stored state and the end of the last run. */
const IN_STATE = {
  open: `(stored IS NULL OR (stored = 'resolved' AND stored_at < last_end))`,
  resolved: `(stored = 'resolved' AND stored_at >= last_end)`,
  ignored: `stored = 'ignored'`,
} as const satisfies Record<NonNullable<ErrorGroupsQuery['state']>, string>

/**
 * Rows of fingerprint, app, workflow, number, first and last end, the last end and its run's id as one text; the stored state,
 * its time and its actor; and the end of the last run, even if it is after the window: a group that failed again there has
 * regressed.
 */
function errorGroupsQuery(namespace: string, query: ErrorGroupsQuery): Query {
  const { until, state, limit } = query
  const { failures, params } = newestFailures(namespace, query)
  const later = until === undefined ? undefined : newestFailures(namespace, { ...query, until: undefined })
  const counted = `SELECT error_key, app, workflow, count(*) AS failures, min(finished_at) AS first_end,
          max(finished_at) AS window_end, max(finished_at || ' ' || id) AS last_run
        FROM ${failures} GROUP BY error_key, app, workflow`
  const behind = later
    ? `LEFT JOIN (SELECT error_key AS later_key, max(finished_at) AS later_end FROM ${later.failures}
        GROUP BY error_key) AS later ON later_key = error_key`
    : ''
  return {
    sql: `SELECT * FROM (SELECT counted.*, d.content AS stored, d.saved_at AS stored_at, d.actor AS stored_by,
          ${later ? 'coalesce(later_end, window_end)' : 'window_end'} AS last_end
        FROM (${counted}) AS counted
        LEFT JOIN documents AS d ON d.namespace = ? AND d.kind = 'error' AND d.id = error_key ${behind}) AS found
      ${state ? `WHERE ${IN_STATE[state]}` : ''} ORDER BY failures DESC, error_key LIMIT ?`,
    params: [...params, namespace, ...(later?.params ?? []), limit],
  }
}

/** A row if a run failed with the fingerprint. */
export function hasFailedQuery(namespace: string, fingerprint: string): Query {
  const sql = 'SELECT 1 FROM runs WHERE namespace = ? AND error_key = ? LIMIT 1'
  return { sql, params: [namespace, fingerprint] }
}

/** Rows of fingerprint, app, workflow, span and number of the same failures, for groups of the rows. */
function trendsQuery(namespace: string, query: ErrorGroupsQuery & { trend: Trend }, groups: readonly Row[]): Query {
  const { failures, params } = newestFailures(namespace, query)
  const keys = [...new Set(groups.map(([key]) => key as string))]
  return {
    sql: `SELECT error_key, app, workflow, CAST((finished_at - ?) / ? AS integer) AS span, count(*)
      FROM ${failures} WHERE error_key IN (${keys.map(() => '?').join(', ')}) GROUP BY 1, 2, 3, 4`,
    params: [query.since, query.trend.spanMs, ...params, ...keys],
  }
}

/** Rows of fingerprint, app, workflow and the last passes of the same failures, for groups of the rows. */
function runnersQuery(namespace: string, query: ErrorGroupsQuery, groups: readonly Row[]): Query {
  const { failures, params } = newestFailures(namespace, query, 'last_pass')
  const keys = [...new Set(groups.map(([key]) => key as string))]
  // One text for each group: a row for each failure would take twice as long.
  return {
    sql: `SELECT error_key, app, workflow, string_agg(last_pass, ',')
      FROM ${failures} WHERE last_pass IS NOT NULL AND error_key IN (${keys.map(() => '?').join(', ')})
      GROUP BY 1, 2, 3`,
    params: [...params, ...keys],
  }
}

/** The newest failures, with the columns of their index; with any other column, PostgreSQL reads each row. */
function newestFailures(
  namespace: string,
  query: ErrorGroupsQuery,
  column = 'id',
): { failures: string; params: Value[] } {
  const { terms, params } = conditions({
    'namespace = ?': namespace,
    'error_key IS NOT NULL AND finished_at >= ?': query.since,
    'finished_at < ?': query.until,
    // The planner must not take an index by name, which has all runs but not their ends.
    "app || '' = ?": query.app,
    "workflow || '' = ?": query.workflow,
  })
  const failures = `(SELECT error_key, app, workflow, finished_at, ${column} FROM runs WHERE ${terms}
        ORDER BY finished_at DESC LIMIT ?) AS newest`
  return { failures, params: [...params, FAILURES_MAX] }
}

/** Rows of id, error, last pass and kind, of the last run of each group. */
function lastErrorsQuery(groups: readonly Row[]): Query {
  return {
    sql: `SELECT id, error, last_pass, kind FROM runs WHERE id IN (${groups.map(() => '?').join(', ')})`,
    params: groups.map(lastRunIdOf),
  }
}

/** Rows with the fingerprint and the end of the oldest run of each group, whatever its time: one index lookup for each. */
function firstEndsQuery(namespace: string, groups: readonly Row[]): Query {
  const keys = [...new Set(groups.map(([key]) => key as string))]
  return {
    sql: `SELECT column1, (SELECT finished_at FROM runs WHERE namespace = ? AND error_key = column1
        ORDER BY error_key, id LIMIT 1)
      FROM (VALUES ${keys.map(() => '(?)').join(', ')}) AS keys`,
    params: [namespace, ...keys],
  }
}

/** The groups whose last run still exists: retention may have removed it meanwhile. */
function errorGroups(groups: readonly Row[], lasts: readonly Row[], firsts: readonly Row[]): ErrorGroup[] {
  const firstEndOf = new Map(firsts.map(([key, end]) => [key as string, end as number]))
  const lastOf = new Map(lasts.map(([id, ...last]) => [id as string, last as (string | null)[]]))
  return groups.flatMap(row => {
    const [fingerprint, app, workflow, count, firstAt, lastAt] = row as [string, string, string, number, number, number]
    const lastRunId = lastRunIdOf(row)
    const [error, pass, kindOfLast] = lastOf.get(lastRunId) ?? []
    if (!error) return []
    const lastRunner = pass && (JSON.parse(pass) as PassSent).runner
    // All runs of a group have the same kind: it is part of the fingerprint.
    const kind = (kindOfLast ?? 'run') as RunKind
    const last = { lastRunId, error: JSON.parse(error), kind, ...stateOf(row), ...(lastRunner && { lastRunner }) }
    // A run that was created later may have ended earlier.
    const firstSeenAt = Math.min(firstAt, firstEndOf.get(fingerprint) ?? firstAt)
    return [{ fingerprint, app, workflow, count, firstAt, lastAt, firstSeenAt, ...last }]
  })
}

function stateOf(row: Row): Pick<ErrorGroup, 'state' | 'stateSetAt' | 'stateSetBy'> {
  const [state, savedAt, actor, lastAt] = row.slice(7) as [StoredState | null, number, string | null, number]
  if (state === null) return { state: 'open' }
  const set = { stateSetAt: savedAt, ...(actor === null ? {} : { stateSetBy: actor }) }
  return { state: errorState({ state, savedAt }, lastAt), ...set }
}

/** The number of failures in each span, by group, from rows of `trendsQuery`. */
function trendsOf(groups: readonly ErrorGroup[], rows: readonly Row[], { spans }: Trend): Map<string, number[]> {
  const trends = new Map(groups.map(group => [keyOf(group), new Array<number>(spans).fill(0)]))
  for (const row of rows) {
    const [fingerprint, app, workflow, span, count] = row as [string, string, string, number, number]
    const trend = trends.get(keyOf({ fingerprint, app, workflow }))
    // A run may end after the last span: it counts in that span.
    const at = Math.min(span, spans - 1)
    if (trend) trend[at] = (trend[at] ?? 0) + count
  }
  return trends
}

/** The number of failures by runner, by group, from rows of `runnersQuery`. The event loop turns between groups. */
async function runnersOf(rows: readonly Row[]): Promise<Map<string, Map<string, number>>> {
  const groups = new Map<string, Map<string, number>>()
  for (const [fingerprint, app, workflow, passes] of rows as [string, string, string, string][]) {
    const counts = new Map<string, number>()
    // The databases have different JSON functions, so the texts are parsed here.
    for (const { runner } of JSON.parse(`[${passes}]`) as PassSent[]) counts.set(runner, (counts.get(runner) ?? 0) + 1)
    groups.set(keyOf({ fingerprint, app, workflow }), counts)
    await nextTurn()
  }
  return groups
}

function largestRunners(counts: ReadonlyMap<string, number> = new Map(), most: number) {
  return [...counts]
    .map(([runnerId, count]) => ({ runnerId, count }))
    .sort((a, b) => b.count - a.count || (a.runnerId < b.runnerId ? -1 : 1))
    .slice(0, most)
}

function keyOf({ fingerprint, app, workflow }: Pick<ErrorGroup, 'fingerprint' | 'app' | 'workflow'>): string {
  return JSON.stringify([fingerprint, app, workflow])
}

function lastRunIdOf(row: Row): string {
  return (row[6] as string).split(' ')[1] as string
}
