// The series of runs over time: from the roll-ups, from what they have not counted yet, and from live runs, all at one moment, so
// that each run counts once. Called by the reads.

import { SPAN_MS, type SpanRange, spanStart } from '../../../domain/view/rollup-span.ts'
import { addTally, type RunTally, tallyOf } from '../../../domain/view/run-tally.ts'
import type { RunScope, RunSeriesQuery } from '../../../ports/store-statistics.ts'
import type { Query, Row } from '../description/values.ts'
import { RUN_ROLLUPS } from '../tables/ended-runs.ts'
import { LIVE_STATUSES } from '../tables/statuses.ts'
import { endGroup, uncountedQuery } from './ends.ts'
import { rollupTally } from './rollup-rows.ts'
import { inScope, ofWorkflows } from './scope.ts'

/** Rows of roll-ups, of uncounted ends, and of live runs by the span of their creation. */
export function seriesQueries(namespace: string, { step, since, until, ...scope }: RunSeriesQuery): Query[] {
  const { terms, params } = inScope(namespace, scope)
  return [
    rollupsQuery(namespace, scope, { span: step, from: since, until }),
    uncountedQuery(namespace, scope),
    {
      sql: `SELECT created_at / ${SPAN_MS[step]}, count(*) FROM runs
        WHERE ${terms} AND status IN ${LIVE_STATUSES} AND created_at >= ? AND created_at < ? GROUP BY 1`,
      params: [...params, since, until],
    },
  ]
}

/** The spans in which runs were created or ended, by the time of their beginning. */
export function runSeries({ step, since, until }: RunSeriesQuery, answers: readonly Row[][]): Map<number, RunTally> {
  const [rollups, uncounted, live] = answers as [Row[], Row[], [slot: number, runs: number][]]
  const series = new Map<number, RunTally>()
  const add = (time: number, change: (tally: RunTally) => void) => {
    if (time >= since && time < until) change(tallyOf(series, spanStart(step, time)))
  }
  for (const row of rollups.map(RUN_ROLLUPS.fromRow)) add(row.at, tally => addTally(tally, rollupTally(row)))
  for (const { ended, endedAt, createdAt, runs } of uncounted.map(endGroup)) {
    add(endedAt, tally => addTally(tally, ended))
    add(createdAt, tally => (tally.started += runs))
  }
  for (const [slot, runs] of live) add(slot * SPAN_MS[step], tally => (tally.started += runs))
  return series
}

/** The rows of the level that the scope names: those of a namespace or an app are sums already. */
function rollupsQuery(namespace: string, scope: RunScope, range: SpanRange): Query {
  const { app = '', workflow = '' } = scope
  if (app === '' && workflow !== '') return ofWorkflows(namespace, scope, range)
  return {
    sql: `SELECT ${RUN_ROLLUPS.select} FROM run_rollups
      WHERE span = ? AND namespace = ? AND app = ? AND workflow = ? AND at >= ? AND at < ?`,
    params: [range.span, namespace, app, workflow, range.from, range.until],
  }
}
