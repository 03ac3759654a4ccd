// Groups of failed runs by the fingerprint of their error (docs/errors.md#fingerprints), with their numbers over time. Called by the
// reads. One index has all that is counted.

import type { PassSent } from '../../../domain/model/step.ts'
import type { ErrorGroup, ErrorGroupsQuery, Trend } from '../../../ports/store-statistics.ts'
import type { Query, Row, Value } from '../description/values.ts'

/** Failures that are grouped at most, the newest. */
const FAILURES_MAX = 20_000

/** The groups, the largest first, each with the error of its last run and, if the query wants it, its trend. */
export async function errorGroupsOf(
  read: (query: Query) => Promise<Row[]>,
  namespace: string,
  query: ErrorGroupsQuery,
): Promise<ErrorGroup[]> {
  const rows = await read(errorGroupsQuery(namespace, query))
  if (rows.length === 0) return []
  const [lasts, firsts] = [await read(lastErrorsQuery(rows)), await read(firstEndsQuery(namespace, rows))]
  const groups = errorGroups(rows, lasts, firsts)
  const { trend } = query
  return trend ? withTrends(groups, await read(trendsQuery(namespace, { ...query, trend }, rows)), trend) : groups
}

/** Rows of fingerprint, app, workflow, number, first and last end, and the last end and its run's id as one text. */
function errorGroupsQuery(namespace: string, query: ErrorGroupsQuery): Query {
  const { failures, params } = newestFailures(namespace, query)
  return {
    sql: `SELECT error_key, app, workflow, count(*) AS failures, min(finished_at), max(finished_at),
        max(finished_at || ' ' || id)
      FROM ${failures}
      GROUP BY error_key, app, workflow ORDER BY failures DESC, error_key LIMIT ?`,
    params: [...params, query.limit],
  }
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

function newestFailures(namespace: string, query: ErrorGroupsQuery): { failures: string; params: Value[] } {
  const terms = ['namespace = ?', 'error_key IS NOT NULL', 'finished_at >= ?']
  const params: Value[] = [namespace, query.since]
  for (const name of ['app', 'workflow'] as const) {
    const value = query[name]
    if (value === undefined) continue
    // The planner must not take an index by name, which has all runs, and not their ends.
    terms.push(`${name} || '' = ?`)
    params.push(value)
  }
  const failures = `(SELECT error_key, app, workflow, finished_at, id FROM runs WHERE ${terms.join(' AND ')}
        ORDER BY finished_at DESC LIMIT ?) AS newest`
  return { failures, params: [...params, FAILURES_MAX] }
}

/** Rows of id, error and last pass of the last run of each group. */
function lastErrorsQuery(groups: readonly Row[]): Query {
  return {
    sql: `SELECT id, error, last_pass FROM runs WHERE id IN (${groups.map(() => '?').join(', ')})`,
    params: groups.map(lastRunIdOf),
  }
}

/** Rows of fingerprint and end of the oldest run of each group, whatever its time: one look into an index for each. */
function firstEndsQuery(namespace: string, groups: readonly Row[]): Query {
  const keys = [...new Set(groups.map(([key]) => key as string))]
  return {
    sql: `SELECT column1, (SELECT finished_at FROM runs WHERE namespace = ? AND error_key = column1
        ORDER BY error_key, id LIMIT 1)
      FROM (VALUES ${keys.map(() => '(?)').join(', ')}) AS keys`,
    params: [namespace, ...keys],
  }
}

/** The groups whose last run is still there: retention may have removed it meanwhile. */
function errorGroups(groups: readonly Row[], lasts: readonly Row[], firsts: readonly Row[]): ErrorGroup[] {
  const firstEndOf = new Map(firsts.map(([key, end]) => [key as string, end as number]))
  const lastOf = new Map(lasts.map(([id, ...last]) => [id as string, last as [string | null, string | null]]))
  return groups.flatMap(row => {
    const [fingerprint, app, workflow, count, firstAt, lastAt] = row as [string, string, string, number, number, number]
    const lastRunId = lastRunIdOf(row)
    const [error, pass] = lastOf.get(lastRunId) ?? []
    if (!error) return []
    const lastRunner = pass && (JSON.parse(pass) as PassSent).runner
    const last = { lastRunId, error: JSON.parse(error), ...(lastRunner && { lastRunner }) }
    // A run that was created later may have ended earlier.
    const firstSeenAt = Math.min(firstAt, firstEndOf.get(fingerprint) ?? firstAt)
    return [{ fingerprint, app, workflow, count, firstAt, lastAt, firstSeenAt, ...last }]
  })
}

/** The groups with the number of failures in each span, from rows of `trendsQuery`. */
function withTrends(groups: readonly ErrorGroup[], rows: readonly Row[], { spans }: Trend): ErrorGroup[] {
  const keyOf = (...parts: unknown[]) => JSON.stringify(parts)
  const trends = new Map(
    groups.map(({ fingerprint, app, workflow }) => [
      keyOf(fingerprint, app, workflow),
      new Array<number>(spans).fill(0),
    ]),
  )
  for (const [fingerprint, app, workflow, span, count] of rows) {
    const trend = trends.get(keyOf(fingerprint, app, workflow))
    // A run may end after the time up to which the spans go: it is in the last one.
    const at = Math.min(span as number, spans - 1)
    if (trend) trend[at] = (trend[at] ?? 0) + (count as number)
  }
  return groups.map(group => {
    const { fingerprint, app, workflow } = group
    return { ...group, trend: trends.get(keyOf(fingerprint, app, workflow)) as number[] }
  })
}

function lastRunIdOf(row: Row): string {
  return (row[6] as string).split(' ')[1] as string
}
