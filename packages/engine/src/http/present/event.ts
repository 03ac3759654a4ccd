// Event records on the wire (contract §2.7).

import type { EventRecord } from '@perdure/protocol'
import type { Event } from '../../domain/event.ts'
import type { JsonText } from '../../domain/json-text.ts'
import { splice } from './splice.ts'
import { timestamp } from './timestamp.ts'

export function eventText(event: Event): JsonText {
  const { id, name, app, source, receivedAt, woke, triggered } = event
  const head: EventRecord = { id, name, app, source, receivedAt: timestamp(receivedAt), woke, triggered }
  return splice(head, { data: event.data })
}
