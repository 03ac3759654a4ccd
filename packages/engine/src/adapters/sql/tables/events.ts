// The tables of the event log and of claimed dedupe ids.

import type { DedupeKey, DeliveredWith, Event } from '../../../domain/model/event.ts'
import type { PositionedEvent } from '../../../ports/store-reads.ts'
import { flag, integer, json, optional, since, text, unique } from '../description/column.ts'
import { table } from '../description/table.ts'
import type { Row } from '../description/values.ts'

export const EVENTS = table<Event>()('events', {
  position: 'position',
  fixed: {
    id: unique(text),
    namespace: text,
    name: text,
    app: optional(text),
    source: text,
    scheduledAt: since(2, optional(integer)),
    receiverId: optional(text),
    receivedAt: integer,
    woke: integer,
    triggered: json,
    data: optional(text),
    erased: since(2, flag),
    decided: since(2, optional(json)),
    generation: since(3, optional(integer)),
    runId: since(3, optional(text)),
    // A dedicated statement sets it.
    answer: since(3, optional(json)),
  },
  indexes: {
    events_listed: { on: 'namespace, position, app', until: 2 },
    events_by_source: { on: 'namespace, position, source', since: 2 },
    events_of_app: { on: 'namespace, app, position', where: 'app IS NOT NULL', since: 2 },
    events_of_run: { on: 'run_id, position', where: 'run_id IS NOT NULL', since: 3 },
    events_named: { on: 'namespace, name, position' },
  },
})

/** Reads for `positionedEvent`. */
export const SELECT_EVENT = `${EVENTS.select}, events.position`

export function positionedEvent(row: Row): PositionedEvent {
  return { event: EVENTS.fromRow(row), position: row[EVENTS.columns.length] as number }
}

interface Delivered {
  inbox: string
  eventId: string
  position: number
  /** The parts of the run that the event starts, if it starts one. */
  sent: DeliveredWith
}

/**
 * The inboxes of runs: events that a singleton delivered to a live run. A row is removed at the end of the run that was given its
 * event.
 */
export const DELIVERED_EVENTS = table<Delivered>()('delivered_events', {
  key: ['inbox', 'event_id'],
  since: 3,
  fixed: { inbox: text, eventId: text, position: integer, sent: json },
  indexes: {
    delivered_events_next: { on: 'inbox, position' },
    // Retention and erasure check whether an event is in an inbox.
    delivered_events_of: { on: 'event_id' },
  },
})

interface Dedupe extends Omit<DedupeKey, 'now'> {
  expiresAt: number
  /** The event that claimed it. */
  eventId?: string
}

export const DEDUPES = table<Dedupe>()('dedupes', {
  key: ['namespace', 'app', 'dedupe_id'],
  fixed: { namespace: text, app: text, dedupeId: text, expiresAt: integer, eventId: since(3, optional(text)) },
  // Retention finds claims that are over by it.
  indexes: { dedupes_expiring: { on: 'expires_at' } },
})
