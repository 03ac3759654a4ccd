// The rows of a scope: a namespace, one of its apps, or a workflow. Used by the queries of series and totals.

import type { SpanRange } from '../../../domain/view/rollup-span.ts'
import type { RunScope } from '../../../ports/store-statistics.ts'
import { conditions } from '../description/conditions.ts'
import type { Query, Value } from '../description/values.ts'
import { summedColumns } from './summed-rows.ts'

/** Terms for the runs of the scope that leave the index by status to the planner. */
export function inScope(namespace: string, { app, workflow }: RunScope): { terms: string; params: Value[] } {
  return conditions({ 'namespace = ?': namespace, "app || '' = ?": app, "workflow || '' = ?": workflow })
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
  const known = conditions({ 'known.namespace = ?': namespace, 'known.app = ?': app, 'known.workflow = ?': workflow })
  return {
    from: `run_rollups AS known CROSS JOIN run_rollups
      WHERE known.span = 'all' AND ${known.terms}
        AND run_rollups.span = ? AND run_rollups.namespace = known.namespace AND run_rollups.app = known.app
        AND run_rollups.workflow = known.workflow AND run_rollups.at >= ? AND run_rollups.at < ?`,
    params: [...known.params, range.span, range.from, range.until],
  }
}
