// The events of a workflow that collects events, beside the list of their payloads. Used by the replay.

import type { BatchEvent, ReceivedEvent, WorkflowEvent } from '../run/run-context.ts'

/** An event of a batch as the engine sends it: its payload is in the list. */
type SentEvent = Omit<ReceivedEvent, 'data'>

/** The event with `events`, which have the payloads of its list. A schedule's event stays as it is. */
export function withEvents(event: WorkflowEvent & { readonly events?: readonly SentEvent[] }): WorkflowEvent {
  const { data, events = [] } = event
  if (!Array.isArray(data)) return event
  const zipped: BatchEvent = { ...event, data, events: events.map((one, index) => ({ ...one, data: data[index] })) }
  return zipped
}

/** The validated event, whose events have its validated payloads, unless a schema has made another list of them. */
export function withValidated(event: WorkflowEvent, before: WorkflowEvent): WorkflowEvent {
  const isSameList = Array.isArray(event.data) && Array.isArray(before.data) && event.data.length === before.data.length
  return isSameList ? withEvents(event) : event
}
