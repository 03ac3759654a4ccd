// Events that arrive later (docs/events.md#send-an-event-later): a flow-control row keeps the event as it was sent, and
// everything is decided when it arrives.

import type { Attributes } from '../model/attributes.ts'
import { type FlowRow, firstVersion, flowRowId } from '../model/flow-row.ts'
import { splice } from '../text/json-splice.ts'
import { type JsonText, objectMember } from '../text/json-text.ts'
import type { Traceparent } from '../text/traceparent.ts'

/** Longest time from sending an event to its arrival. */
export const SCHEDULED_MS_MAX = 366 * 86_400_000

/** An event as it was sent, without effects. */
export interface ScheduledEvent {
  id: string
  name: string
  app?: string
  data?: JsonText
  dedupeId?: string
  runner?: string
  targetApp?: string
  attributes?: Attributes
  trace?: Traceparent
  createdAt: number
}

export function scheduledRowId(namespace: string, eventId: string): string {
  return flowRowId({ namespace, app: '', workflow: '', policy: 'event', key: eventId })
}

export function scheduledRow(namespace: string, event: ScheduledEvent, at: number): FlowRow {
  const { id: key, data, ...about } = event
  return {
    id: scheduledRowId(namespace, key),
    namespace,
    app: '',
    workflow: '',
    policy: 'event',
    key,
    version: firstVersion(key),
    availableAt: at,
    dueAt: at,
    state: splice(about, { data }),
  }
}

/** The event that `scheduledRow` stored, its data to the letter. */
export function scheduledEvent({ key, state }: Pick<FlowRow, 'key' | 'state'>): ScheduledEvent {
  const { data: _, ...about } = JSON.parse(state) as ScheduledEvent
  const data = objectMember(state, 'data')
  return { ...about, id: key, ...(data === undefined ? {} : { data }) }
}
