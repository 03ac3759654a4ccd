// Queries about the event log. Called by the store and its reads.

import type { EventQuery } from '../../../ports/store-reads.ts'
import type { Query, Value } from '../description/values.ts'
import { SELECT_EVENT } from '../tables/events.ts'

/** Rows of `SELECT_EVENT`, for the event of that id. */
export function eventQuery(namespace: string, id: string): Query {
  return { sql: `SELECT ${SELECT_EVENT} FROM events WHERE id = ? AND namespace = ?`, params: [id, namespace] }
}

/** Rows with first event, id, app and workflow of the runs of buffers. */
export function bufferRunsQuery(namespace: string, firstEventIds: readonly string[]): Query {
  const holes = firstEventIds.map(() => '?').join(', ')
  return {
    sql: `SELECT first_event_id, id, app, workflow FROM runs WHERE first_event_id IN (${holes}) AND namespace = ?`,
    params: [...firstEventIds, namespace],
  }
}

/** Rows of `SELECT_EVENT`, newest first. */
export function eventsQuery(namespace: string, query: EventQuery): Query {
  return newest(SELECT_EVENT, namespace, query)
}

/** The bytes of the data of each event of `eventsQuery`. Neither database loads the texts for it. */
export function eventSizesQuery(namespace: string, query: EventQuery): Query {
  return newest('coalesce(octet_length(data), 0)', namespace, query)
}

function newest(columns: string, namespace: string, { app, name, limit, before }: EventQuery): Query {
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
  const sql = `SELECT ${columns} FROM events WHERE ${terms.join(' AND ')} ORDER BY position DESC LIMIT ?`
  return { sql, params: [...params, limit] }
}

export interface EventsSince {
  namespace: string
  eventName: string
  runId: string
  after: number
  limit: number
}

/** Rows of `SELECT_EVENT`, oldest first, of the events that the `events` guard is about (write/guard-checks.ts). */
export function eventsSinceQuery({ namespace, eventName, runId, after, limit }: EventsSince): Query {
  const from = after > 0 ? '?' : '(SELECT log_position FROM runs WHERE id = ?)'
  const sql = `SELECT ${SELECT_EVENT} FROM events
    WHERE namespace = ? AND name = ? AND position > ${from} ORDER BY position LIMIT ?`
  return { sql, params: [namespace, eventName, after > 0 ? after : runId, limit] }
}
