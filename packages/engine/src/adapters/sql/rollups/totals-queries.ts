// Runs of each workflow in numbers, for a window or for all time: from the roll-ups, from what they have not counted yet, and
// from live runs, all at one moment, so that each run counts once. Called by the reads.

import { totalRanges } from '../../../domain/view/rollup-span.ts'
import { addTally, emptyTally, type RunTally } from '../../../domain/view/run-tally.ts'
import type { RunTotals, RunTotalsQuery, WorkflowTally } from '../../../ports/store-statistics.ts'
import type { Query, Row } from '../description/values.ts'
import { endGroup, type MarksBefore, uncountedQuery } from './ends.ts'
import { liveGroups, liveQueries } from './live-queries.ts'
import { ofWorkflows } from './scope.ts'
import { addSummedRows } from './summed-rows.ts'
import { Trends, trendQueries } from './trend-queries.ts'

/** The columns that name a workflow. */
const NAMES = 'known.app, known.workflow'

/** Rows of live runs, of uncounted ends, of each workflow's roll-ups, and of the trend. */
export function totalsQueries(namespace: string, query: RunTotalsQuery, before: MarksBefore): Query[] {
  const { since, until, countsOnly = false, trend, ...scope } = query
  return [
    ...liveQueries(namespace, { since, until, ...scope }),
    uncountedQuery(namespace, scope, before),
    ...totalRanges(since, until).map(range =>
      ofWorkflows(namespace, scope, { range, groups: NAMES, withTimes: !countsOnly }),
    ),
    ...(trend ? trendQueries(namespace, query, trend) : []),
  ]
}

export async function runTotals(query: RunTotalsQuery, answers: readonly Row[][]): Promise<RunTotals> {
  const { since = 0, until = Number.POSITIVE_INFINITY } = query
  const isInside = (at: number) => at >= since && at < until
  const [waiting, live, followOn, uncounted, ...counted] = answers as [Row[], Row[], Row[], Row[], ...Row[][]]
  const ranges = totalRanges(query.since, query.until).length
  const [rollups, ofTrend] = [counted.slice(0, ranges), counted.slice(ranges)]
  const workflows = new Map<string, WorkflowTally>()
  const of = (app: string, workflow: string): RunTally => {
    const key = JSON.stringify([app, workflow])
    const known = workflows.get(key) ?? { app, workflow, tally: emptyTally() }
    workflows.set(key, known)
    return known.tally
  }
  await addSummedRows(rollups.flat(), 2, ([app, workflow]) => of(app as string, workflow as string))
  for (const { app, workflow, ended, endedAt, createdAt, started } of uncounted.map(endGroup)) {
    if (isInside(endedAt)) addTally(of(app, workflow), ended)
    if (isInside(createdAt)) of(app, workflow).started += started
  }
  const groups = liveGroups({ waiting, notParked: live, followOn })
  for (const { app, workflow, kind, created } of groups) of(app, workflow).started += kind === 'run' ? created : 0
  if (query.trend) {
    const trends = new Trends(query.trend)
    for (const rows of ofTrend) trends.addRows(rows)
    for (const { app, workflow, ended, endedAt, createdAt, started } of uncounted.map(endGroup)) {
      const trend = trends.of(app, workflow)
      if (isInside(endedAt)) trends.add(trend, 'failed', { at: endedAt, runs: ended.failed })
      if (isInside(createdAt)) trends.add(trend, 'started', { at: createdAt, runs: started })
    }
    for (const each of workflows.values()) each.trend = trends.of(each.app, each.workflow)
  }
  return { workflows: [...workflows.values()], live: groups }
}
