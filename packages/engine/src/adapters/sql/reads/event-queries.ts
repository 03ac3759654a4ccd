// Queries about the event log and about the steps that wait for events. Called by the store and its reads.

import type { Waiter } from '../../../domain/model/event.ts'
import type { EventQuery } from '../../../ports/store.ts'
import { SELECT_EVENT } from '../tables/events.ts'
import type { Query, Row, Value } from '../tables/operations.ts'
import { selectWithPayload } from '../tables/payloads.ts'

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

/** Rows of `SELECT_EVENT`, oldest first. The two ways are those of the `events` guard (guard-checks.ts). */
export function eventsSinceQuery({ namespace, eventName, since, after, limit }: EventsSince): Query {
  if (after > 0) {
    // The plus keeps the received_at index out of it: position is the narrower bound.
    const sql = `SELECT ${SELECT_EVENT} FROM events
      WHERE namespace = ? AND name = ? AND position > ? AND +received_at >= ? ORDER BY position LIMIT ?`
    return { sql, params: [namespace, eventName, after, since, limit] }
  }
  const sql = `SELECT ${SELECT_EVENT} FROM events WHERE position IN (
      SELECT position FROM events WHERE namespace = ? AND name = ? AND received_at >= ? ORDER BY position LIMIT ?)
    ORDER BY position`
  return { sql, params: [namespace, eventName, since, limit] }
}

/** What began the run of a wait: read only where a filter speaks of it. */
const TRIGGER = selectWithPayload('runs', ['trigger_id', 'trigger_name', 'input'], 'input')

/** Rows for `waiterFromRow`, oldest wait first. */
export function waitersQuery(namespace: string, eventName: string): Query {
  return {
    sql: `SELECT run_id, idx, condition, steps.started_at, ${TRIGGER} FROM steps
      LEFT JOIN runs ON condition IS NOT NULL AND runs.id = run_id
      WHERE steps.namespace = ? AND steps.event_name = ? AND steps.status = 'waiting'
      ORDER BY steps.started_at, run_id, idx`,
    params: [namespace, eventName],
  }
}

type WaiterRow = [
  runId: string,
  stepIndex: number,
  filter: string | null,
  since: number,
  triggerId: string | null,
  triggerName: string | null,
  input: string | null,
]

export function waiterFromRow(row: Row): Waiter {
  const [runId, stepIndex, filter, since, id, name, data] = row as WaiterRow
  if (filter === null) return { runId, stepIndex, since }
  const trigger = { name: name ?? '', ...(id === null ? {} : { id }), ...(data === null ? {} : { data }) }
  return { runId, stepIndex, since, condition: { filter, trigger } }
}
