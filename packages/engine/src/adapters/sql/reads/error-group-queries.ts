// Groups of failed runs by the fingerprint of their error (docs/errors.md#fingerprints). Called by the reads.

import type { ErrorGroup, ErrorGroupsQuery } from '../../../ports/store-reads.ts'
import type { Query, Row, Value } from '../description/values.ts'

/** Failures that are grouped at most, the newest. */
const FAILURES_MAX = 20_000

/** Rows of fingerprint, app, workflow, number, first and last end, and the last end and its run's id as one text. */
export function errorGroupsQuery(namespace: string, query: ErrorGroupsQuery): Query {
  const terms = ['namespace = ?', 'error_key IS NOT NULL', 'finished_at >= ?']
  const params: Value[] = [namespace, query.since]
  for (const name of ['app', 'workflow'] as const) {
    const value = query[name]
    if (value === undefined) continue
    // The planner must not take an index by name, which has all runs, and not their ends.
    terms.push(`${name} || '' = ?`)
    params.push(value)
  }
  return {
    sql: `SELECT error_key, app, workflow, count(*) AS failures, min(finished_at), max(finished_at),
        max(finished_at || ' ' || id)
      FROM (SELECT error_key, app, workflow, finished_at, id FROM runs WHERE ${terms.join(' AND ')}
        ORDER BY finished_at DESC LIMIT ?) AS newest
      GROUP BY error_key, app, workflow ORDER BY failures DESC, error_key LIMIT ?`,
    params: [...params, FAILURES_MAX, query.limit],
  }
}

/** Rows of id and error of the last run of each group. */
export function lastErrorsQuery(groups: readonly Row[]): Query {
  return {
    sql: `SELECT id, error FROM runs WHERE id IN (${groups.map(() => '?').join(', ')})`,
    params: groups.map(lastRunIdOf),
  }
}

/** The groups whose last run is still there: retention may have removed it meanwhile. */
export function errorGroups(groups: readonly Row[], errors: readonly Row[]): ErrorGroup[] {
  const errorOf = new Map(errors as [string, string | null][])
  return groups.flatMap(row => {
    const [fingerprint, app, workflow, count, firstAt, lastAt] = row as [string, string, string, number, number, number]
    const lastRunId = lastRunIdOf(row)
    const error = errorOf.get(lastRunId)
    return error ? [{ fingerprint, app, workflow, count, firstAt, lastAt, lastRunId, error: JSON.parse(error) }] : []
  })
}

function lastRunIdOf(row: Row): string {
  return (row[6] as string).split(' ')[1] as string
}
