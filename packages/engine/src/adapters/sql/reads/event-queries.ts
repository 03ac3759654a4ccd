// Queries about the event log. Called by the store and its reads.

import type { EventQuery } from '../../../ports/store-reads.ts'
import type { Query, Value } from '../description/values.ts'
import { SELECT_EVENT } from '../tables/events.ts'

/** Rows of `SELECT_EVENT`, for the event of that id. */
export function eventQuery(namespace: string, id: string): Query {
  return { sql: `SELECT ${SELECT_EVENT} FROM events WHERE id = ? AND namespace = ?`, params: [id, namespace] }
}

/** Rows of `SELECT_EVENT`, newest first. */
export function eventsQuery(namespace: string, { app, name, limit, before }: EventQuery): Query {
  const terms = ['namespace = ?']
  const params: Value[] = [namespace]
  const add = (term: string, value: Value | undefined) => {
    if (value === undefined) return
    terms.push(term)
    params.push(value)
  }
  add('app = ?', app)
  add('name = ?', name)
  add('position < ?', before)
  const sql = `SELECT ${SELECT_EVENT} FROM events WHERE ${terms.join(' AND ')} ORDER BY position DESC LIMIT ?`
  return { sql, params: [...params, limit] }
}

export interface EventsSince {
  namespace: string
  eventName: string
  since: number
  after: number
  limit: number
}

/** Rows of `SELECT_EVENT`, oldest first, in the two ways of the `events` guard (write/guard-checks.ts). */
export function eventsSinceQuery({ namespace, eventName, since, after, limit }: EventsSince): Query {
  if (after > 0) {
    // The plus keeps the planner from the index by received_at: position is the narrower bound.
    const sql = `SELECT ${SELECT_EVENT} FROM events
      WHERE namespace = ? AND name = ? AND position > ? AND +received_at >= ? ORDER BY position LIMIT ?`
    return { sql, params: [namespace, eventName, after, since, limit] }
  }
  const sql = `SELECT ${SELECT_EVENT} FROM events WHERE position IN (
      SELECT position FROM events WHERE namespace = ? AND name = ? AND received_at >= ? ORDER BY position LIMIT ?)
    ORDER BY position`
  return { sql, params: [namespace, eventName, since, limit] }
}
