// Event records on the wire (contract §2.7).

import type { EventFrame, EventRecord } from '@perdure/protocol'
import type { Event } from '../../../domain/model/event.ts'
import { splice } from '../../../domain/text/json-splice.ts'
import type { JsonText } from '../../../domain/text/json-text.ts'
import { timestamp } from '../../../domain/text/timestamp.ts'

export function eventText(event: Event): JsonText {
  return splice(head(event), { data: event.data })
}

/** The record as it goes down `GET /events/stream` (decisions, "Events"). */
export function eventFrame(event: Event): JsonText {
  const frame: EventFrame = { kind: 'event', ...head(event) }
  return splice(frame, { data: event.data })
}

function head({ id, name, app, source, receivedAt, woke, triggered }: Event): EventRecord {
  return { id, name, app, source, receivedAt: timestamp(receivedAt), woke, triggered }
}
