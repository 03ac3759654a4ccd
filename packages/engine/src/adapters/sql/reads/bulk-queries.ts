// Queries about bulk actions: the list of jobs, their results, and the counts of results and of matching runs. Called by the reads.

import { RUN_STATUSES } from '@perdure/protocol'
import type { BulkCounts } from '../../../domain/model/bulk.ts'
import type { BulkJobsQuery, BulkResultsQuery, RunCounts, RunFilter } from '../../../ports/store-reads.ts'
import type { Query, Row, Value } from '../description/values.ts'
import { BULK_RESULTS } from '../tables/bulk-results.ts'
import { FLOW_ROWS } from '../tables/flow-rows.ts'
import { runFilter } from './run-filter.ts'

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
export function bulkResultsQuery(bulkId: string, { runIds, after, limit }: BulkResultsQuery): Query {
  const terms = ['bulk_id = ?']
  const params: Value[] = [bulkId]
  if (after !== undefined) {
    terms.push('run_id > ?')
    params.push(after)
  }
  if (runIds) {
    terms.push(`run_id IN (${runIds.map(() => '?').join(', ')})`)
    params.push(...runIds)
  }
  const sql = `SELECT ${BULK_RESULTS.select} FROM bulk_results WHERE ${terms.join(' AND ')} ORDER BY run_id LIMIT ?`
  return { sql, params: [...params, limit] }
}

export function bulkCountsQuery(bulkId: string): Query {
  return { sql: 'SELECT outcome, count(*) FROM bulk_results WHERE bulk_id = ? GROUP BY outcome', params: [bulkId] }
}

export function bulkCounts(rows: readonly Row[]): BulkCounts {
  return { done: 0, skipped: 0, failed: 0, ...Object.fromEntries(rows) }
}

/** How many runs of each status the filter matches. */
export function statusCountsQuery(namespace: string, filter: RunFilter): Query {
  const { terms, params } = runFilter(namespace, filter)
  return { sql: `SELECT status, count(*) FROM runs WHERE ${terms.join(' AND ')} GROUP BY status`, params }
}

export function statusCounts(rows: readonly Row[]): RunCounts {
  const zeros = Object.fromEntries(RUN_STATUSES.map(status => [status, 0]))
  return { ...zeros, ...Object.fromEntries(rows) } as RunCounts
}
