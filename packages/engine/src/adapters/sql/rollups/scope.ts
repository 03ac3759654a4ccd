// The rows of a scope: of a namespace, of one of its apps, of a workflow. Used by the queries of series and totals.

import type { SpanRange } from '../../../domain/view/rollup-span.ts'
import type { RunScope } from '../../../ports/store-statistics.ts'
import type { Query, Value } from '../description/values.ts'
import { RUN_ROLLUPS } from '../tables/ended-runs.ts'

/** The terms of runs of the scope that leave the planner the index by status. */
export function inScope(namespace: string, { app, workflow }: RunScope): { terms: string; params: Value[] } {
  const names = [
    ...(app === undefined ? [] : [[`app || '' = ?`, app]]),
    ...(workflow === undefined ? [] : [[`workflow || '' = ?`, workflow]]),
  ] as [term: string, value: string][]
  const terms = ['namespace = ?', ...names.map(([term]) => term)].join(' AND ')
  return { terms, params: [namespace, ...names.map(([, value]) => value)] }
}

/** The roll-ups of each workflow of the scope. The span `all` has one row for each, from which the others are found by key. */
export function ofWorkflows(namespace: string, { app, workflow }: RunScope, { span, from, until }: SpanRange): Query {
  const names = [app, workflow].filter(name => name !== undefined)
  return {
    sql: `SELECT ${RUN_ROLLUPS.select} FROM run_rollups AS known CROSS JOIN run_rollups
      WHERE known.span = 'all' AND known.namespace = ?
        ${app === undefined ? '' : 'AND known.app = ?'} ${workflow === undefined ? '' : 'AND known.workflow = ?'}
        AND run_rollups.span = ? AND run_rollups.namespace = known.namespace AND run_rollups.app = known.app
        AND run_rollups.workflow = known.workflow AND run_rollups.at >= ? AND run_rollups.at < ?`,
    params: [namespace, ...names, span, from, until],
  }
}
