// Queries about control: the runs that a bulk replay takes, and the audit log of actions. Called by the reads.

import { earliestId } from '../../../domain/text/ids.ts'
import type { ControlQuery, ReplayFilter } from '../../../ports/store-reads.ts'
import type { Query, Value } from '../description/values.ts'
import { CONTROL_ACTIONS } from '../tables/control-actions.ts'
import { runFilter } from './run-filter.ts'

/** Two queries: one row with how many runs match and how many of those have ended; the ids of the newest ended ones. */
export function replayableQueries(namespace: string, filter: ReplayFilter, limit: number): [Query, Query] {
  const status = filter.status && [filter.status]
  const { terms, params } = runFilter(namespace, { ...filter, status })
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
  // The entries of one run either target it or created it; each list has an index of its own.
  const columns = runId === undefined ? [undefined] : (['run_id', 'new_run_id'] as const)
  const lists = columns.map(column => newestIds(namespace, query, column))
  const ids = lists.map(({ sql }) => `SELECT id FROM (${sql}) AS list`).join(' UNION ALL ')
  const sql = `SELECT ${CONTROL_ACTIONS.select} FROM control_actions WHERE id IN (${ids})
    ORDER BY id DESC LIMIT ?`
  return { sql, params: [...lists.flatMap(({ params }) => params), limit] }
}

function newestIds(
  namespace: string,
  { action, runId, actor, since, before, limit }: ControlQuery,
  column: 'run_id' | 'new_run_id' | undefined,
): Query {
  const terms = ['namespace = ?']
  const params: Value[] = [namespace]
  const add = (term: string, value: Value | undefined) => {
    if (value === undefined) return
    terms.push(term)
    params.push(value)
  }
  if (column !== undefined) add(`${column} = ?`, runId)
  add('action = ?', action)
  add('actor = ?', actor)
  // Ids contain the time, so that an index answers both bounds.
  add('id >= ?', since === undefined ? undefined : earliestId('act', since))
  add('id < ?', before)
  const sql = `SELECT id FROM control_actions WHERE ${terms.join(' AND ')} ORDER BY id DESC LIMIT ?`
  return { sql, params: [...params, limit] }
}
