// Live runs in numbers. All of these queries read indexes only: a namespace may have very many sleeping runs. The id of a run
// contains the time of its creation, by which the lists of runs are also narrowed. Used by the queries of series and totals.

import { earliestId } from '../../../domain/text/ids.ts'
import { SPAN_MS } from '../../../domain/view/rollup-span.ts'
import type { LiveRuns, RunSeriesQuery, RunTotalsQuery } from '../../../ports/store-statistics.ts'
import type { Query, Row, Value } from '../description/values.ts'
import { FOLLOW_ON } from '../tables/runs.ts'
import { LIVE_STATUS_LIST } from '../tables/statuses.ts'
import { inScope } from './scope.ts'

/** Most runs without a runner that are counted. */
const WITHOUT_RUNNER_MAX = 100_000
/** Statuses that runs can have without a wait. */
const NOT_PARKED = `('queued', 'running', 'paused')`
/** The live runs that follow another; they have their own index. */
export const LIVE_FOLLOW_ON = `${FOLLOW_ON} AND finished_at IS NULL`

/**
 * Rows of the runs that wait for something, then of all runs that can be without a wait, then of the runs in both that follow
 * another. Columns: app, workflow, status, kind, what they wait for, runs, and runs created between the times.
 */
export function liveQueries(
  namespace: string,
  { since = 0, until, ...scope }: Pick<RunTotalsQuery, 'since' | 'until' | 'app' | 'workflow'>,
): Query[] {
  const { terms, params } = inScope(namespace, scope)
  const created = ['id >= ?', ...(until === undefined ? [] : ['id < ?'])].join(' AND ')
  const bounds = [since, ...(until === undefined ? [] : [until])].map(at => earliestId('run', at))
  // The planner must not read all runs in the order of their apps to get its groups one after the other.
  const grouped = (waitingKind: string, where: string, kind = `'run'`) => ({
    sql: `SELECT app || '', workflow || '', status, ${kind}, ${waitingKind}, count(*), count(CASE WHEN ${created} THEN 1 END)
      FROM runs WHERE ${terms} AND ${where} GROUP BY 1, 2, 3, 4, 5`,
    params: [...bounds, ...params],
  })
  return [
    grouped('waiting_kind', 'waiting_kind IS NOT NULL'),
    grouped(`''`, `status IN ${NOT_PARKED}`),
    grouped('waiting_kind', LIVE_FOLLOW_ON, 'kind'),
  ]
}

/** Rows with the app and the number of runs for which no runner could be reached. */
export function withoutRunnerQuery(namespace: string): Query {
  return {
    sql: `SELECT app, count(*) FROM (SELECT app FROM runs WHERE namespace = ? AND held_for_runner = 1
        LIMIT ${WITHOUT_RUNNER_MAX}) AS held GROUP BY app`,
    params: [namespace],
  }
}

type LiveRow = [
  app: string,
  workflow: string,
  status: LiveRuns['status'],
  kind: LiveRuns['kind'],
  waitingKind: string | null,
  runs: number,
  created: number,
]

/** The live runs by kind and by what they wait for. Runs without a wait are the rest. */
export function liveGroups(rows: Record<'waiting' | 'notParked' | 'followOn', readonly Row[]>): LiveRuns[] {
  const waiting = rows.waiting.map(group)
  const rest = new Map(rows.notParked.map(group).map(each => [keyOf(each), each]))
  for (const each of waiting) subtract(rest.get(keyOf({ ...each, waitingKind: undefined })), each)
  const groups = new Map([...waiting, ...rest.values()].map(each => [keyOf(each), each]))
  const followOn = rows.followOn.map(group)
  for (const each of followOn) subtract(groups.get(keyOf(each)), each)
  return [...groups.values(), ...followOn].filter(({ runs }) => runs > 0)
}

function group(row: Row): LiveRuns {
  const [app, workflow, status, kind, waitingKind, runs, created] = row as LiveRow
  return {
    app,
    workflow,
    kind,
    status,
    runs,
    created,
    waitingKind: (waitingKind || undefined) as LiveRuns['waitingKind'],
  }
}

function keyOf({ app, workflow, status, waitingKind }: LiveRuns): string {
  return JSON.stringify([app, workflow, status, waitingKind ?? ''])
}

function subtract(from: LiveRuns | undefined, part: LiveRuns): void {
  if (!from) return
  from.runs -= part.runs
  from.created -= part.created
}

/** Rows with the number of a span of the series, and the live runs of handlers created in it. */
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
  const followOn = `(SELECT count(*) FROM runs WHERE ${terms} AND ${LIVE_FOLLOW_ON} AND id >= column2 AND id < column3)`
  return {
    sql: `SELECT column1, ${counts.join(' + ')} - ${followOn} FROM (VALUES ${spans.join(', ')}) AS spans`,
    params: [...LIVE_STATUS_LIST.flatMap(() => params), ...params, ...bounds],
  }
}
