// What a decision assumes about other rows: who waits for an event name, and which events of a name came since the
// run began. The common case, nobody and none, is assumed without reading and guarded; when the guard fails, the
// service reads what is there and decides again (services/attempt).

import type { Guard } from './change.ts'
import type { Event, Waiter } from './event.ts'
import type { FlowRow } from './flow/flow-row.ts'

export interface Known {
  /** By event name; a name that is missing is assumed to have none. */
  waiters: Map<string, readonly Waiter[]>
  /** By event name: events since the run was created, oldest first, up to log position `after`. */
  events: Map<string, { events: readonly Event[]; after: number }>
  /** Flow-control rows by id; one that is missing is assumed not to exist, `null` is known not to. */
  flow: Map<string, FlowRow | null>
}

export function nothingKnown(): Known {
  return { waiters: new Map(), events: new Map(), flow: new Map() }
}

/** The guard of a wait that found no event: none has come behind what is known. */
export function noLaterEvent(options: {
  known: Known
  namespace: string
  eventName: string
  since: number
}): Guard {
  const { known, namespace, eventName, since } = options
  return { type: 'events', namespace, eventName, since, after: known.events.get(eventName)?.after ?? 0 }
}
