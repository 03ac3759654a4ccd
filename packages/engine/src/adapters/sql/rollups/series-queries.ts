// The series of runs over time: from the roll-ups, from what they have not counted yet, and from live runs, all at one moment, so
// each run counts once. Called by the reads.

import { SPAN_MS, type SpanRange, spanStart } from '../../../domain/view/rollup-span.ts'
import { addTally, type RunTally, tallyOf } from '../../../domain/view/run-tally.ts'
import type { RunScope, RunSeriesQuery } from '../../../ports/store-statistics.ts'
import type { Query, Row } from '../description/values.ts'
import { endGroup, type MarksBefore, uncountedQuery } from './ends.ts'
import { liveSeriesQuery } from './live-queries.ts'
import { ofWorkflows } from './scope.ts'
import { addSummedRows, summedColumns } from './summed-rows.ts'

/** Rows of roll-ups, of uncounted ends, and of live runs by the span of their creation. */
export function seriesQueries(namespace: string, query: RunSeriesQuery, before: MarksBefore): Query[] {
  const { step, since, until, ...scope } = query
  return [
    rollupsQuery(namespace, scope, { span: step, from: since, until }),
    uncountedQuery(namespace, scope, before),
    liveSeriesQuery(namespace, query),
  ]
}

/** The spans in which runs were created or ended, by the time when they begin. */
export async function runSeries(
  { step, since, until }: RunSeriesQuery,
  answers: readonly Row[][],
): Promise<Map<number, RunTally>> {
  const [rollups, uncounted, live] = answers as [Row[], Row[], [span: number, runs: number][]]
  const series = new Map<number, RunTally>()
  const add = (time: number, change: (tally: RunTally) => void) => {
    if (time >= since && time < until) change(tallyOf(series, spanStart(step, time)))
  }
  await addSummedRows(rollups, 1, ([at]) => tallyOf(series, at as number))
  for (const { ended, endedAt, createdAt, started } of uncounted.map(endGroup)) {
    add(endedAt, tally => addTally(tally, ended))
    add(createdAt, tally => (tally.started += started))
  }
  for (const [span, runs] of live) if (runs > 0) add(since + span * SPAN_MS[step], tally => (tally.started += runs))
  return series
}

/** Sums by span, at the level that the scope names: the rows of a namespace or an app are sums already. */
function rollupsQuery(namespace: string, scope: RunScope, range: SpanRange): Query {
  const { app = '', workflow = '' } = scope
  const groups = 'run_rollups.at'
  if (app === '' && workflow !== '') return ofWorkflows(namespace, scope, { range, groups, withTimes: true })
  return {
    sql: `SELECT ${groups}, ${summedColumns(true)} FROM run_rollups
      WHERE span = ? AND namespace = ? AND app = ? AND workflow = ? AND at >= ? AND at < ? GROUP BY ${groups}`,
    params: [range.span, namespace, app, workflow, range.from, range.until],
  }
}
