// The runs of each workflow over time, in the spans of a trend: from the roll-ups, and from live runs. Used by the queries of totals,
// which add what the roll-ups have not counted yet.

import { earliestId } from '../../../domain/text/ids.ts'
import { totalRanges } from '../../../domain/view/rollup-span.ts'
import { spanOf, type TrendSpans } from '../../../domain/view/trend-spans.ts'
import type { RunTotalsQuery, WorkflowTrend } from '../../../ports/store-statistics.ts'
import type { Query, Row } from '../description/values.ts'
import { LIVE_STATUS_LIST } from '../tables/statuses.ts'
import { LIVE_FOLLOW_ON } from './live-queries.ts'
import { inScope, workflowRows } from './scope.ts'

/** The last millisecond that an id can have. */
const TIME_MAX = 2 ** 48 - 1
const LIVE = LIVE_STATUS_LIST.map(status => `'${status}'`).join(', ')

/** Rows of app, workflow, span, started and failed runs: of live runs, then of the roll-ups. */
export function trendQueries(namespace: string, query: RunTotalsQuery, trend: TrendSpans): Query[] {
  const { since, until, app, workflow } = query
  return [
    liveTrendQuery(namespace, query, trend),
    ...totalRanges(since, until, trend.step).map(range => {
      const { from, params } = workflowRows(namespace, { app, workflow }, range)
      return {
        sql: `SELECT known.app, known.workflow, (run_rollups.at - ?) / ?,
            CAST(sum(run_rollups.started) AS bigint), CAST(sum(run_rollups.failed) AS bigint)
          FROM ${from} GROUP BY 1, 2, 3`,
        params: [trend.from, trend.spanMs, ...params],
      }
    }),
  ]
}

/** Live runs by the span of their creation, which is in their id; then the follow-on runs among them, as negative numbers. */
function liveTrendQuery(namespace: string, query: RunTotalsQuery, { from, spanMs, count }: TrendSpans): Query {
  const { since = 0, until = TIME_MAX, ...scope } = query
  const { terms, params } = inScope(namespace, scope)
  const limits = Array.from({ length: count }, (_, i) => [
    i === 0 ? since : from + i * spanMs,
    i === count - 1 ? until : from + (i + 1) * spanMs,
  ])
  const spans = `(VALUES ${limits.map((_, i) => `(${i}, ?, ?)`).join(', ')}) AS spans`
  const counted = (count: string, live: string) => `SELECT app || '', workflow || '', column1, ${count}, 0
      FROM ${spans} CROSS JOIN runs WHERE ${terms} AND ${live} AND id >= column2 AND id < column3 GROUP BY 1, 2, 3`
  const bounds = [...limits.flat().map(at => earliestId('run', at as number)), ...params]
  return {
    sql: `${counted('count(*)', `status IN (${LIVE})`)} UNION ALL ${counted('-count(*)', LIVE_FOLLOW_ON)}`,
    params: [...bounds, ...bounds],
  }
}

/** Trends of workflows, to which counts are added. */
export class Trends {
  readonly #spans: TrendSpans
  readonly #of = new Map<string, WorkflowTrend>()

  constructor(spans: TrendSpans) {
    this.#spans = spans
  }

  /** The trend of a workflow; zeros for a workflow without counts. */
  of(app: string, workflow: string): WorkflowTrend {
    const key = JSON.stringify([app, workflow])
    const known = this.#of.get(key)
    if (known) return known
    const none = () => new Array<number>(this.#spans.count).fill(0)
    const trend = { started: none(), failed: none() }
    this.#of.set(key, trend)
    return trend
  }

  /** Adds runs to the span that a time is in. */
  add(trend: WorkflowTrend, of: keyof WorkflowTrend, counted: { at: number; runs: number }): void {
    const span = spanOf(this.#spans, counted.at)
    trend[of][span] = (trend[of][span] ?? 0) + counted.runs
  }

  /** Adds rows of `trendQueries`. */
  addRows(rows: readonly Row[]): void {
    const { from, spanMs } = this.#spans
    for (const row of rows as [string, string, number, number, number][]) {
      const [app, workflow, span, started, failed] = row
      const at = from + span * spanMs
      const trend = this.of(app, workflow)
      this.add(trend, 'started', { at, runs: started })
      this.add(trend, 'failed', { at, runs: failed })
    }
  }
}
