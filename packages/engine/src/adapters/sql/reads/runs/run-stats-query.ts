// Counts the runs of each status. Called by the reads.

import { FOLLOW_ON_KINDS, RUN_STATUSES } from '@perdure/protocol'
import type { RunCounts, RunStatsQuery } from '../../../../ports/store-reads.ts'
import type { Query, Row, Value } from '../../description/values.ts'
import { ofKind } from '../../tables/runs.ts'
import { allOf, equals, filterTerms, inNamespace } from './run-filter.ts'

/**
 * A query for each status, for `runCounts`. Each walks its part of the index by status, which has id and app as well. Runs are
 * counted by app rather than filtered by it: a planner that took the index by app instead would read every row. Follow-on runs
 * have their own index, so the runs of handlers are the rest.
 */
export function countQueries(namespace: string, { app, since, kind }: RunStatsQuery): Query[] {
  const count = app === undefined ? 'count(*)' : 'count(CASE WHEN app = ? THEN 1 END)'
  return RUN_STATUSES.map(status => {
    const scope = [inNamespace(namespace), equals('status', status), ...filterTerms({ since }).values()]
    const { terms, params } = allOf(scope)
    const all = `(SELECT ${count} FROM runs WHERE ${terms.join(' AND ')})`
    const counted = (kind: string) => `(SELECT ${count} FROM runs WHERE ${[...terms, kind].join(' AND ')})`
    const one: Value[] = [...(app === undefined ? [] : [app]), ...params]
    if (kind === undefined) return { sql: `SELECT ${all}`, params: one }
    if (kind !== 'run') return { sql: `SELECT ${counted(ofKind(kind))}`, params: one }
    return {
      sql: `SELECT ${all} - ${FOLLOW_ON_KINDS.map(each => counted(ofKind(each))).join(' - ')}`,
      params: [one, ...FOLLOW_ON_KINDS.map(() => one)].flat(),
    }
  })
}

export function runCounts(answers: readonly Row[][]): RunCounts {
  const counts = RUN_STATUSES.map((status, i) => [status, answers[i]?.[0]?.[0] as number])
  return Object.fromEntries(counts) as RunCounts
}
