// Events that arrive in their own commit: delayed events (docs/events.md#send-an-event-later), and events of the engine
// (ended-event.ts). A flow-control row stores the event as it was sent, and everything is decided when it arrives.

import { type Attributes, attributeTexts } from '../../model/attributes.ts'
import type { EngineEventFacts } from '../../model/event.ts'
import { type FlowPolicy, type FlowRow, firstVersion, flowRowId } from '../../model/flow-row.ts'
import { splice } from '../../text/json-splice.ts'
import { type JsonText, objectMember } from '../../text/json-text.ts'
import type { Traceparent } from '../../text/traceparent.ts'

/** Maximum time from sending an event to its arrival. */
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
  /** Only on an event that the engine sends. */
  engine?: EngineEventFacts
  createdAt: number
}

/** A filter of scheduled events: an event must match all given parts. */
export interface ScheduledFilter {
  name?: string | undefined
  /** In their indexed form. */
  attribute?: readonly string[] | undefined
  /** The dedupe id that the event was sent with. */
  key?: string | undefined
}

/** The texts with which the store finds an event: one for each part of a filter. */
export function filterTerms({ name, attribute = [], key }: ScheduledFilter): string[] {
  return [
    ...(key === undefined ? [] : [`k:${key}`]),
    ...attribute.map(text => `a:${text}`),
    ...(name === undefined ? [] : [`n:${name}`]),
  ]
}

/** The terms with which filters find the event of a row. */
export function scheduledTerms(row: FlowRow): string[] {
  if (row.policy !== 'event') return []
  const { name, attributes, dedupeId } = scheduledEvent(row)
  return filterTerms({ name, attribute: attributeTexts(attributes), key: dedupeId })
}

export function scheduledRowId(namespace: string, eventId: string): string {
  return flowRowId({ namespace, app: '', workflow: '', policy: 'event', key: eventId })
}

export function scheduledRow(namespace: string, event: ScheduledEvent, at: number): FlowRow {
  return { ...eventRow('event', namespace, event), availableAt: at, dueAt: at }
}

/** The row of an event, due at its creation. */
export function eventRow(policy: FlowPolicy, namespace: string, event: ScheduledEvent): FlowRow {
  const { id: key, data, ...about } = event
  const of = { namespace, app: '', workflow: '', policy, key }
  return {
    id: flowRowId(of),
    ...of,
    version: firstVersion(key),
    availableAt: event.createdAt,
    state: splice(about, { data }),
  }
}

/** The event in a row, with exactly the data that was sent. */
export function scheduledEvent({ key, state }: Pick<FlowRow, 'key' | 'state'>): ScheduledEvent {
  const { data: _, ...about } = JSON.parse(state) as ScheduledEvent
  const data = objectMember(state, 'data')
  return { ...about, id: key, ...(data === undefined ? {} : { data }) }
}
