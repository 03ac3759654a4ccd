// The rows of a scope: a namespace, one of its apps, or a workflow. Used by the queries of series and totals.

import type { SpanRange } from '../../../domain/view/rollup-span.ts'
import type { RunScope } from '../../../ports/store-statistics.ts'
import type { Query, Value } from '../description/values.ts'
import { summedColumns } from './summed-rows.ts'

/** Terms for the runs of the scope that leave the index by status to the planner. */
export function inScope(namespace: string, { app, workflow }: RunScope): { terms: string; params: Value[] } {
  const names = [
    ...(app === undefined ? [] : [[`app || '' = ?`, app]]),
    ...(workflow === undefined ? [] : [[`workflow || '' = ?`, workflow]]),
  ] as [term: string, value: string][]
  const terms = ['namespace = ?', ...names.map(([term]) => term)].join(' AND ')
  return { terms, params: [namespace, ...names.map(([, value]) => value)] }
}

/** Which rows of the roll-ups are summed, and by what: columns of `known`, which has a row for each workflow, or of `run_rollups`. */
export interface SummedBy {
  range: SpanRange
  groups: string
  withTimes: boolean
}

/** Sums of the workflows of the scope. The span `all` has one row for each, from which the others are found by key. */
export function ofWorkflows(namespace: string, scope: RunScope, { range, groups, withTimes }: SummedBy): Query {
  const { from, params } = workflowRows(namespace, scope, range)
  return { sql: `SELECT ${groups}, ${summedColumns(withTimes)} FROM ${from} GROUP BY ${groups}`, params }
}

/** The rows of a range of `run_rollups`, each with the row of its workflow as `known`. */
export function workflowRows(
  namespace: string,
  { app, workflow }: RunScope,
  range: SpanRange,
): { from: string; params: Value[] } {
  const names = [app, workflow].filter(name => name !== undefined)
  return {
    from: `run_rollups AS known CROSS JOIN run_rollups
      WHERE known.span = 'all' AND known.namespace = ?
        ${app === undefined ? '' : 'AND known.app = ?'} ${workflow === undefined ? '' : 'AND known.workflow = ?'}
        AND run_rollups.span = ? AND run_rollups.namespace = known.namespace AND run_rollups.app = known.app
        AND run_rollups.workflow = known.workflow AND run_rollups.at >= ? AND run_rollups.at < ?`,
    params: [namespace, ...names, range.span, range.from, range.until],
  }
}
