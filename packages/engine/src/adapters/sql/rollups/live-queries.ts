// Live runs in numbers. All of these queries read indexes only: a namespace may have very many runs that sleep. The time in a
// run's id is that of its creation, by which the lists of runs are narrowed too. Used by the queries of series and totals.

import { earliestId } from '../../../domain/text/ids.ts'
import { SPAN_MS } from '../../../domain/view/rollup-span.ts'
import type { LiveRuns, RunSeriesQuery, RunTotalsQuery } from '../../../ports/store-statistics.ts'
import type { Query, Row, Value } from '../description/values.ts'
import { LIVE_STATUS_LIST } from '../tables/statuses.ts'
import { inScope } from './scope.ts'

/** Statuses that runs can have without a wait. */
const NOT_PARKED = `('queued', 'running', 'paused')`

/**
 * Rows of the runs that wait for something, then of all runs that can be without a wait: app, workflow, status, kind, runs, and
 * those created between the times.
 */
export function liveQueries(
  namespace: string,
  { since = 0, until, ...scope }: Pick<RunTotalsQuery, 'since' | 'until' | 'app' | 'workflow'>,
): Query[] {
  const { terms, params } = inScope(namespace, scope)
  const created = ['id >= ?', ...(until === undefined ? [] : ['id < ?'])].join(' AND ')
  const bounds = [since, ...(until === undefined ? [] : [until])].map(at => earliestId('run', at))
  // The planner must not read all runs in the order of their app, to have its groups one after the other.
  const grouped = (kind: string, where: string) => ({
    sql: `SELECT app || '', workflow || '', status, ${kind}, count(*), count(CASE WHEN ${created} THEN 1 END)
      FROM runs WHERE ${terms} AND ${where} GROUP BY 1, 2, 3, 4`,
    params: [...bounds, ...params],
  })
  return [grouped('waiting_kind', 'waiting_kind IS NOT NULL'), grouped(`''`, `status IN ${NOT_PARKED}`)]
}

type LiveRow = [app: string, workflow: string, status: LiveRuns['status'], kind: string, runs: number, created: number]

/** The live runs by what they wait for. Those without a wait are what the others leave. */
export function liveGroups(waiting: readonly Row[], notParked: readonly Row[]): LiveRuns[] {
  const rest = new Map<string, LiveRuns>()
  const keyOf = ({ app, workflow, status }: LiveRuns) => JSON.stringify([app, workflow, status])
  const group = (row: Row, waitingKind?: LiveRuns['waitingKind']): LiveRuns => {
    const [app, workflow, status, , runs, created] = row as LiveRow
    return { app, workflow, status, runs, created, waitingKind }
  }
  for (const row of notParked) {
    const each = group(row)
    rest.set(keyOf(each), each)
  }
  const groups = waiting.map(row => group(row, row[3] as LiveRuns['waitingKind']))
  for (const each of groups) {
    const of = rest.get(keyOf(each))
    if (!of) continue
    of.runs -= each.runs
    of.created -= each.created
  }
  return [...groups, ...[...rest.values()].filter(({ runs }) => runs > 0)]
}

/** Rows of the number of a span of the series, and the live runs created in it. */
export function liveSeriesQuery(namespace: string, { step, since, until, ...scope }: RunSeriesQuery): Query {
  const { terms, params } = inScope(namespace, scope)
  const spans: string[] = []
  const bounds: Value[] = []
  for (let at = since; at < until; at += SPAN_MS[step]) {
    spans.push(`(${spans.length}, ?, ?)`)
    bounds.push(earliestId('run', at), earliestId('run', at + SPAN_MS[step]))
  }
  // Each status has its own part of the index.
  const counts = LIVE_STATUS_LIST.map(
    status => `(SELECT count(*) FROM runs WHERE ${terms} AND status = '${status}' AND id >= column2 AND id < column3)`,
  )
  return {
    sql: `SELECT column1, ${counts.join(' + ')} FROM (VALUES ${spans.join(', ')}) AS spans`,
    params: [...LIVE_STATUS_LIST.flatMap(() => params), ...bounds],
  }
}
