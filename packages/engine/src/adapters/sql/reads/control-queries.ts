// Queries about control: the runs that a bulk replay takes, bulk actions with their results, and the audit log of actions. Called by the reads.

import type { BulkCounts } from '../../../domain/model/bulk.ts'
import type { RunFilter } from '../../../domain/model/run.ts'
import { earliestId } from '../../../domain/text/ids.ts'
import type { BulkJobsQuery, BulkResultsQuery, ControlQuery } from '../../../ports/store-reads.ts'
import { conditions } from '../description/conditions.ts'
import type { Query, Row, Value } from '../description/values.ts'
import { BULK_RESULTS } from '../tables/bulk-results.ts'
import { CONTROL_ACTIONS } from '../tables/control-actions.ts'
import { FLOW_ROWS } from '../tables/flow-rows.ts'
import { runFilter } from './runs/run-filter.ts'

/** Two queries: one row with how many runs match and how many of those have ended; the ids of the newest ended ones. */
export function replayableQueries(namespace: string, filter: RunFilter, limit: number): [Query, Query] {
  const { terms, params } = runFilter(namespace, filter)
  const where = terms.join(' AND ')
  return [
    { sql: `SELECT count(*), count(finished_at) FROM runs WHERE ${where}`, params },
    {
      sql: `SELECT id FROM runs WHERE ${where} AND finished_at IS NOT NULL ORDER BY id DESC LIMIT ?`,
      params: [...params, limit],
    },
  ]
}

/** Rows of `CONTROL_ACTIONS`, newest first: ids rise with every action. */
export function controlActionsQuery(namespace: string, query: ControlQuery): Query {
  const { runId, limit } = query
  // The entries of one run either target it or created it; each list has its own index.
  const columns = runId === undefined ? [undefined] : (['run_id', 'new_run_id'] as const)
  const lists = columns.map(column => newestIds(namespace, query, column))
  const ids = lists.map(({ sql }) => `SELECT id FROM (${sql}) AS list`).join(' UNION ALL ')
  const sql = `SELECT ${CONTROL_ACTIONS.select} FROM control_actions WHERE id IN (${ids})
    ORDER BY id DESC LIMIT ?`
  return { sql, params: [...lists.flatMap(({ params }) => params), limit] }
}

function newestIds(
  namespace: string,
  { action, runId, actor, since, until, before, limit }: ControlQuery,
  column: 'run_id' | 'new_run_id' | undefined,
): Query {
  const { terms, params } = conditions({
    'namespace = ?': namespace,
    [`${column} = ?`]: column && runId,
    'action = ?': action,
    'actor = ?': actor,
    // Ids contain the time, so that an index answers all bounds.
    'id >= ?': since === undefined ? undefined : earliestId('act', since),
    // A page after the first one is already in the window.
    'id < ?': before ?? (until === undefined ? undefined : earliestId('act', until)),
  })
  const sql = `SELECT id FROM control_actions WHERE ${terms} ORDER BY id DESC LIMIT ?`
  return { sql, params: [...params, limit] }
}

/** Newest first. */
export function bulkJobsQuery(namespace: string, { limit, before }: BulkJobsQuery): Query {
  const params: Value[] = [namespace]
  if (before) params.push(before.dueAt, before.id)
  return {
    sql: `SELECT ${FLOW_ROWS.select} FROM flow_rows
      WHERE namespace = ? AND policy = 'bulk' AND due_at IS NOT NULL ${before ? 'AND (due_at, id) < (?, ?)' : ''}
      ORDER BY due_at DESC, id DESC LIMIT ?`,
    params: [...params, limit],
  }
}

/** By run id. */
export function bulkResultsQuery(bulkId: string, { runIds, outcome, after, limit }: BulkResultsQuery): Query {
  const { terms, params } = conditions({
    'bulk_id = ?': bulkId,
    'run_id > ?': after,
    'outcome = ?': outcome,
    [`run_id IN (${runIds?.map(() => '?').join(', ')})`]: runIds,
  })
  const sql = `SELECT ${BULK_RESULTS.select} FROM bulk_results WHERE ${terms} ORDER BY run_id LIMIT ?`
  return { sql, params: [...params, limit] }
}

export function bulkCountsQuery(bulkId: string): Query {
  return { sql: 'SELECT outcome, count(*) FROM bulk_results WHERE bulk_id = ? GROUP BY outcome', params: [bulkId] }
}

export function bulkCounts(rows: readonly Row[]): BulkCounts {
  return { done: 0, skipped: 0, failed: 0, ...Object.fromEntries(rows) }
}

/** The crons of workflows. */
export function schedulesQuery(namespace: string): Query {
  const sql = `SELECT ${FLOW_ROWS.select} FROM flow_rows
    WHERE namespace = ? AND policy = 'cron' ORDER BY app, workflow, key`
  return { sql, params: [namespace] }
}
