// The events of a workflow that collects events, in addition to the list of their payloads. Used by the replay.

import type { BatchEvent, ReceivedEvent, WorkflowEvent } from '../run/run-context.ts'

/** An event of a batch in the form that the engine sends: its payload is in the list. */
type SentEvent = Omit<ReceivedEvent, 'data'>

/** Returns the event with `events`, each with its payload from the list. A schedule's event stays as it is. */
export function withEvents(event: WorkflowEvent & { readonly events?: readonly SentEvent[] }): WorkflowEvent {
  const { data, events = [] } = event
  if (!Array.isArray(data)) return event
  const zipped: BatchEvent = { ...event, data, events: events.map((one, index) => ({ ...one, data: data[index] })) }
  return zipped
}

/** Returns the validated event. Its events get the validated payloads, unless a schema has changed the list. */
export function withValidated(event: WorkflowEvent, before: WorkflowEvent): WorkflowEvent {
  const isSameList = Array.isArray(event.data) && Array.isArray(before.data) && event.data.length === before.data.length
  return isSameList ? withEvents(event) : event
}
