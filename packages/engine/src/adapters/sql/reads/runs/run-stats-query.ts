// Counts the runs of each status. Called by the reads.

import { RUN_STATUSES } from '@perdure/protocol'
import type { RunCounts, RunStatsQuery } from '../../../../ports/store-reads.ts'
import type { Query, Row } from '../../description/values.ts'
import { allOf, equals, filterTerms, inNamespace } from './run-filter.ts'

/**
 * A query for each status, for `runCounts`. Each walks its part of the index by status, which has id and app as well.
 * The app is counted, not filtered by: a planner that took the index by app instead would read every row.
 */
export function countQueries(namespace: string, { app, since }: RunStatsQuery): Query[] {
  const count = app === undefined ? 'count(*)' : 'count(CASE WHEN app = ? THEN 1 END)'
  return RUN_STATUSES.map(status => {
    const scope = [inNamespace(namespace), equals('status', status), ...filterTerms({ since }).values()]
    const { terms, params } = allOf(scope)
    return {
      sql: `SELECT ${count} FROM runs WHERE ${terms.join(' AND ')}`,
      params: [...(app === undefined ? [] : [app]), ...params],
    }
  })
}

export function runCounts(answers: readonly Row[][]): RunCounts {
  const counts = RUN_STATUSES.map((status, i) => [status, answers[i]?.[0]?.[0] as number])
  return Object.fromEntries(counts) as RunCounts
}
