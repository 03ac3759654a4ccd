// The row of an event in the log, and the way there and back. Its position is given by the database.

import type { Event, Triggered } from '../../../domain/model/event.ts'
import type { PositionedEvent } from '../../../ports/store.ts'
import type { Columns } from './columns.ts'
import type { Row } from './operations.ts'

type EventRow = [
  id: string,
  namespace: string,
  name: string,
  app: string | null,
  source: Event['source'],
  receivedAt: number,
  woke: number,
  triggered: string,
  data: string | null,
]

export const EVENT_COLUMNS: Columns<EventRow> = [
  'id',
  'namespace',
  'name',
  'app',
  'source',
  'received_at',
  'woke',
  'triggered',
  'data',
]

export const SELECT_EVENT = ['position', ...EVENT_COLUMNS].map(column => `events.${column}`).join(', ')

export function eventRow(event: Event): EventRow {
  return [
    event.id,
    event.namespace,
    event.name,
    event.app ?? null,
    event.source,
    event.receivedAt,
    event.woke,
    JSON.stringify(event.triggered),
    event.data ?? null,
  ]
}

/** Reads a row of `SELECT_EVENT`. */
export function eventFromRow(row: Row): PositionedEvent {
  const [position, id, namespace, name, app, source, receivedAt, woke, triggered, data] = row as [
    position: number,
    ...EventRow,
  ]
  const event: Event = {
    namespace,
    id,
    name,
    app: app ?? undefined,
    source,
    data: data ?? undefined,
    receivedAt,
    woke,
    triggered: JSON.parse(triggered) as Triggered[],
  }
  return { position, event }
}
