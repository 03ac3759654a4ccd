// Queries about the event log. Called by the store and its reads.

import type { DeliveredEvent, DeliveredWith, Event } from '../../../domain/model/event.ts'
import { FIRST_EVENT_NAME } from '../../../domain/text/name.ts'
import type { RedrivableEvent, RedriveQuery } from '../../../ports/redrive-reads.ts'
import {
  EVENTS_OF_NAME_MAX,
  type EventNamesQuery,
  type EventQuery,
  type NamedEvents,
} from '../../../ports/store-reads.ts'
import { conditions } from '../description/conditions.ts'
import type { Query, Row } from '../description/values.ts'
import { EVENTS, SELECT_EVENT } from '../tables/events.ts'

/** Rows of `SELECT_EVENT`, for the event of that id. */
export function eventQuery(namespace: string, id: string): Query {
  return { sql: `SELECT ${SELECT_EVENT} FROM events WHERE id = ? AND namespace = ?`, params: [id, namespace] }
}

/** Rows with first event, id, app and workflow of the runs of buffers. Only these have an event; their forks do not. */
export function bufferRunsQuery(namespace: string, firstEventIds: readonly string[]): Query {
  const holes = firstEventIds.map(() => '?').join(', ')
  return {
    sql: `SELECT first_event_id, id, app, workflow FROM runs
      WHERE first_event_id IN (${holes}) AND namespace = ? AND event_id IS NOT NULL`,
    params: [...firstEventIds, namespace],
  }
}

/** Rows for `redrivableEvent`, oldest first. */
export function redrivableQuery(namespace: string, query: RedriveQuery & { after: number; limit: number }): Query {
  const { name, since, until, app, workflow, after, limit } = query
  return {
    sql: `SELECT position, id, triggered, erased,
        EXISTS (SELECT 1 FROM runs WHERE event_id = events.id AND workflow = ? AND app = ?)
      FROM events WHERE namespace = ? AND name = ? AND position > ? AND received_at >= ? AND received_at < ?
      ORDER BY position LIMIT ?`,
    params: [workflow, app, namespace, name, after, since, until, limit],
  }
}

export function redrivableEvent(row: Row): RedrivableEvent {
  const [position, id, triggered, erased, isStarted] = row as [number, string, string, unknown, unknown]
  const event = { position, id, triggered: JSON.parse(triggered) as Event['triggered'], isStarted: Boolean(isStarted) }
  return erased ? { ...event, erased: true } : event
}

export interface PositionedQuery extends EventQuery {
  /** Matching events begin at this position. */
  from?: number | undefined
  /** Every name with the prefix, if there are few. */
  names?: readonly string[] | undefined
}

/** Rows of `SELECT_EVENT`, newest first. */
export function eventsQuery(namespace: string, query: PositionedQuery): Query {
  return newest(SELECT_EVENT, namespace, query)
}

/** The bytes of the data of each event of `eventsQuery`. Neither database loads the texts for it. */
export function eventSizesQuery(namespace: string, query: PositionedQuery): Query {
  return newest('coalesce(octet_length(data), 0)', namespace, query)
}

/** The log's order differs from the order of arrival by less than this. */
const DISORDER_MS_MAX = 600_000

/** Looks up the first position from the given one on, and when its event arrived. */
export function positionQuery(namespace: string, from: number): Query {
  const sql = 'SELECT position, received_at FROM events WHERE namespace = ? AND position >= ? ORDER BY position LIMIT 1'
  return { sql, params: [namespace, from] }
}

/** The first and the last position of the namespace. */
export function positionsQuery(namespace: string): Query {
  const sql = 'SELECT min(position), max(position) FROM events WHERE namespace = ?'
  return { sql, params: [namespace] }
}

/** A time such that no event before the first one since then arrived at `since` or later; likewise for `until`. */
export const wellBefore = (since: number) => since - DISORDER_MS_MAX
export const wellBehind = (until: number) => until + DISORDER_MS_MAX

/** Walks the log or, for a prefix, the events of each of its names. */
function newest(columns: string, namespace: string, query: PositionedQuery): Query {
  const { names, prefix: _, ...rest } = query
  if (names === undefined || query.name !== undefined) return listed(columns, namespace, query)
  const lists = names.map(name => listed('position', namespace, { ...rest, name }))
  const union = lists.map(({ sql }) => `SELECT position FROM (${sql}) AS one`).join(' UNION ALL ')
  const sql = `SELECT ${columns} FROM events WHERE position IN (
    SELECT position FROM (${union}) AS all_names ORDER BY position DESC LIMIT ?) ORDER BY position DESC`
  return { sql, params: [...lists.flatMap(({ params }) => params), query.limit] }
}

function listed(columns: string, namespace: string, query: PositionedQuery): Query {
  const { app, name, prefix, source, since, until, limit, before, from } = query
  const { terms, params } = conditions({
    'namespace = ?': namespace,
    'app = ?': app,
    'name = ?': name,
    'name >= ?': prefix,
    'name < ?': prefix === undefined ? undefined : behindPrefix(prefix),
    'source = ?': source,
    'received_at >= ?': since,
    'received_at < ?': until,
    'position >= ?': from,
    'position < ?': before,
  })
  const sql = `SELECT ${columns} FROM events WHERE ${terms} ORDER BY position DESC LIMIT ?`
  return { sql, params: [...params, limit] }
}

export interface EventsSince {
  namespace: string
  eventName: string
  runId: string
  /** `run`: the position of the run. */
  after: number | 'run'
  limit: number
}

/** Rows of `SELECT_EVENT`, oldest first, of the events that the `events` guard is about (write/guard-checks.ts). */
export function eventsSinceQuery({ namespace, eventName, runId, after, limit }: EventsSince): Query {
  const from = after !== 'run' ? '?' : '(SELECT log_position FROM runs WHERE id = ?)'
  const sql = `SELECT ${SELECT_EVENT}, ${HIDDEN} FROM events
    WHERE namespace = ? AND name = ? AND position > ${from} ORDER BY position LIMIT ?`
  return { sql, params: [runId, runId, namespace, eventName, after === 'run' ? runId : after, limit] }
}

/** Whether the event came before the run, which looks back only for the events in its inbox. Signals are for one run anyway. */
const HIDDEN = `CASE WHEN position <= (SELECT inbox_until FROM runs WHERE id = ?) AND run_id IS NULL
  AND NOT EXISTS (SELECT 1 FROM delivered_events AS d
    WHERE d.inbox = (SELECT inbox FROM runs WHERE id = ?) AND d.event_id = events.id) THEN 1 END`

const DELIVERED = EVENTS.part('id', 'name', 'data', 'receivedAt', 'generation')

/** Reads an event of an inbox from a row of `inboxQuery`. */
export function deliveredEvent(row: Row): DeliveredEvent {
  return { event: DELIVERED.fromRow(row), sent: JSON.parse(row[5] as string) as DeliveredWith }
}

/**
 * The first events of an inbox, from a position on: id, name, data, time, generation, the parts they were sent with, position.
 */
export function inboxQuery(inbox: string, after: number, limit: number): Query {
  const sql = `SELECT ${DELIVERED.select}, d.sent, d.position
    FROM delivered_events AS d JOIN events ON events.id = d.event_id
    WHERE d.inbox = ? AND d.position > ? ORDER BY d.position LIMIT ?`
  return { sql, params: [inbox, after, limit] }
}

/** The signals to a run that none of its steps has taken, oldest first. */
export function waitingSignalsQuery(namespace: string, runId: string, limit: number): Query {
  const sql = `SELECT ${EVENTS.select} FROM events WHERE namespace = ? AND run_id = ?
    AND id NOT IN (SELECT event_id FROM steps WHERE run_id = ? AND event_id IS NOT NULL) ORDER BY position LIMIT ?`
  return { sql, params: [namespace, runId, runId, limit] }
}

/** The number of signals to a run; at most `atMost` are counted. */
export function signalCountQuery(runId: string, atMost: number): Query {
  const sql = 'SELECT count(*) FROM (SELECT 1 FROM events WHERE run_id = ? LIMIT ?) AS signals'
  return { sql, params: [runId, atMost] }
}

/** Sorts behind every character of a name. */
const LAST = '\u{10ffff}'

/** The smallest text that is greater than every name with the prefix. */
const behindPrefix = (prefix: string) => prefix + LAST

/** Rows for `namedEvents`. Walks the index by name from one name to the next. */
export function eventNamesQuery(
  namespace: string,
  { prefix = '', after, limit, since, from = 0 }: EventNamesQuery & { from?: number },
): Query {
  const isNext = after === undefined ? 'name >= ?' : 'name > ?'
  const newest = (column: string) =>
    `(SELECT ${column} FROM events WHERE namespace = ? AND name = names.found ORDER BY position DESC LIMIT 1)`
  // One more than the bound shows that there are more.
  const count = `(SELECT count(*) FROM (SELECT 1 FROM events WHERE namespace = ? AND name = names.found
    AND position >= ? AND received_at >= ? LIMIT ${EVENTS_OF_NAME_MAX + 1}) AS newest)`
  const counted = since === undefined ? [] : [namespace, from, since]
  const sql = `WITH RECURSIVE names (found, number) AS (
      SELECT (SELECT min(name) FROM events WHERE namespace = ? AND ${isNext} AND name < ?), 1
      UNION ALL
      SELECT (SELECT min(name) FROM events WHERE namespace = ? AND name > found AND name < ?), number + 1
      FROM names WHERE found IS NOT NULL AND number < ?)
    SELECT found, ${newest('received_at')}, ${newest('id')}${since === undefined ? '' : `, ${count}`}
    FROM names WHERE found IS NOT NULL ORDER BY number`
  const behind = behindPrefix(prefix)
  const walk = [namespace, after ?? (prefix || FIRST_EVENT_NAME), behind, namespace, behind, limit]
  return { sql, params: [...walk, namespace, namespace, ...counted] }
}

export function namedEvents([name, lastAt, lastEventId, count]: Row): NamedEvents {
  const named = { name: name as string, lastAt: lastAt as number, lastEventId: lastEventId as string }
  return count === undefined ? named : { ...named, count: count as number }
}
