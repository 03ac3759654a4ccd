// Event records on the wire (docs/http-api/schemas.md#eventrecord).

import type { EventFrame, EventRecord } from '@perdure/protocol'
import { type Event, wireTriggered } from '../../../domain/model/event.ts'
import { shownRunId } from '../../../domain/text/ids.ts'
import { splice } from '../../../domain/text/json-splice.ts'
import type { JsonText } from '../../../domain/text/json-text.ts'
import { signalOf } from '../../../domain/text/name.ts'
import { optionalTimestamp, timestamp } from '../../../domain/text/timestamp.ts'

export function eventText(event: Event): JsonText {
  return splice(head(event), { data: event.data })
}

/** The frame of `GET /events/stream`: the record with its kind. */
export function eventFrame(event: Event): JsonText {
  const frame: EventFrame = { kind: 'event', ...head(event) }
  return splice(frame, { data: event.data })
}

function head({
  id,
  name,
  app,
  source,
  scheduledAt,
  receiverId,
  runId,
  erased,
  receivedAt,
  woke,
  triggered,
}: Event): EventRecord {
  return {
    id,
    name: signalOf(name) ?? name,
    app,
    source,
    scheduledAt: optionalTimestamp(scheduledAt),
    receiverId,
    runId: runId && shownRunId(runId),
    erased,
    receivedAt: timestamp(receivedAt),
    woke,
    triggered: wireTriggered(triggered),
  }
}
