// Debounce and batch: events that are buffered and become one run (docs/flow-control.md#debounce, #batch). A buffer is a
// flow-control row. The event that fills it, the first event after it is due, or the timers lane closes it and creates its run.
// The run is the same in each case: an event belongs to the buffer that was open at its arrival.

import type { Report } from '../expressions/matching.ts'
import { keyOf } from '../expressions/matching.ts'
import { type Attributes, mergedAttributes } from '../model/attributes.ts'
import type { Change, Guard } from '../model/change.ts'
import type { Event } from '../model/event.ts'
import { type FlowPolicy, type FlowRow, firstVersion, flowRowId, released } from '../model/flow-row.ts'
import type { CollectedEvents, Run } from '../model/run.ts'
import type { Workflow } from '../model/workflow.ts'
import { EMPTY_STATE } from '../run/assumptions.ts'
import { eventRun } from '../run/create.ts'
import { type JsonText, objectMembers } from '../text/json-text.ts'
import type { Traceparent } from '../text/traceparent.ts'
import type { DueRow, DueRowDecision } from './due-row.ts'
import { type Arrival, type ArrivalInput, dropKey, type Policy, startRun } from './policy.ts'

/** Maximum length of the payloads of one buffer in characters; a single payload may be longer. */
export const BUFFER_CHARS_MAX = 1024 * 1024
/** Maximum number of events of a burst with `mode: all`: the last one starts the run at once. */
export const DEBOUNCE_COUNT_MAX = 1000
/**
 * Maximum number of event ids that a buffer keeps: the first ones, and the last one. Only a burst with a single payload has
 * more events.
 */
export const BUFFER_EVENT_IDS_MAX = 1000
/** How often a due buffer is checked while its namespace is suspended. */
const SUSPENDED_RECHECK_MS = 60_000

interface Buffer {
  /** When the first event of the buffer arrived, and when the last one did. */
  firstAt: number
  lastAt: number
  /** When the buffer becomes a run, unless another event changes that. */
  fireAt: number
  /** The event that the run will name, and the runner to which that event was pinned. */
  event: { id: string; name: string }
  /** The ids of its events, the first one first. */
  eventIds: string[]
  /** Number of events whose ids are not kept; absent: 0. */
  unlisted?: number
  runner?: string
  /** The attributes that came with the events of the run; later events take precedence. */
  attributes?: Attributes
  /** The highest generation of its events; absent: 0. */
  generation?: number
  /** The maximum number of engine events in the chains of its events; absent: 0. */
  engineEvents?: number
  /** The trace that the run continues: the trace of the event that the run names; in a batch, that of the first event. */
  trace?: Traceparent
  /** The singleton key of the run, if the workflow has the policy. */
  singletonKey?: string
  /** Number of payloads in the list `data`; absent when `data` is a single payload. */
  count?: number
  /** The events of the list `data`; absent in a buffer of an older version. */
  collected?: CollectedEvents
  data?: JsonText
}

/** How a policy buffers events. */
interface BufferRule {
  policy: Extract<FlowPolicy, 'debounce' | 'batch'>
  /** The value of the policy's key. */
  key: string
  fireAt(firstAt: number, now: number): number
  /** Maximum number of payloads that are collected; absent: only one payload is kept. */
  countMax?: number
  /** The run names the first event; absent: the last event. */
  keepsFirst?: boolean
  /** The run continues the trace of the first event, although it names the last one. */
  keepsTrace?: boolean
}

/** One run for a burst of events, once no event has arrived for the period. */
export const debounce: Policy = (input, arrival) => {
  const policy = input.workflow.flowControl?.debounce
  if (!policy) return undefined
  const { periodMs, timeoutMs = Infinity, mode } = policy
  const fireAt = (firstAt: number, now: number) => Math.min(now + periodMs, firstAt + timeoutMs)
  const keeps = { last: {}, first: { keepsFirst: true }, all: { countMax: DEBOUNCE_COUNT_MAX } }[mode]
  const key = dropKey('debounce', policy.key, { input, arrival })
  const rule: BufferRule = { policy: 'debounce', key: key ?? '', fireAt, ...keeps }
  if (key === undefined) {
    // The run is that of a burst with one event, so its data has the shape that the handler expects.
    startRun(arrival, bufferedRun(withEvent(undefined, rule, input, arrival.singletonKey), input))
    return {}
  }
  buffer(rule, input, arrival)
  return { debounced: true }
}

/** One run for up to `maxSize` events, or for all events before the timeout. */
export const batch: Policy = (input, arrival) => {
  const policy = input.workflow.flowControl?.batch
  if (!policy) return undefined
  const { maxSize, timeoutMs } = policy
  const key = keyOf(policy.key, input)
  const fireAt = (firstAt: number) => firstAt + timeoutMs
  buffer({ policy: 'batch', key, fireAt, countMax: maxSize, keepsTrace: true }, input, arrival)
  return { batched: true }
}

/** The event as it starts a run alone: its data is a list if the workflow collects the payloads of events. */
export function arrivingAlone<E extends Pick<Event, 'name' | 'data' | 'receivedAt'>>(
  { flowControl }: Workflow,
  event: E,
): { event: E; collected?: CollectedEvents } {
  const collects = flowControl?.batch !== undefined || flowControl?.debounce?.mode === 'all'
  if (!collects) return { event }
  return { event: { ...event, data: listWith(undefined, event.data) }, collected: collectedWith(undefined, event) }
}

/** Puts the event into its buffer, and creates the runs of the buffers that it closes. */
function buffer(rule: BufferRule, input: ArrivalInput, arrival: Arrival): void {
  const { event, workflow, assumptions, now } = input
  const { namespace, app, name } = workflow
  const of = { namespace, app, workflow: name, policy: rule.policy, key: rule.key }
  const id = flowRowId(of)
  const row = assumptions.flow.get(id) ?? undefined
  arrival.guards.push({ type: 'flow', id, version: row?.version ?? 0 })
  let open = row && bufferOf(row)
  if (open && (open.fireAt <= now || !hasRoomFor(open, rule, event.data))) {
    arrival.changes.push({ type: 'run.created', run: bufferedRun(open, input) })
    open = undefined
  }
  const filled = withEvent(open, rule, input, arrival.singletonKey)
  arrival.entry.firstEventId = filled.eventIds[0] as string
  if (filled.count !== undefined && filled.count >= (rule.countMax ?? Infinity)) {
    startRun(arrival, bufferedRun(filled, input))
    if (row) arrival.changes.push({ type: 'flow.deleted', id })
    return
  }
  const version = row?.version ? row.version + 1 : firstVersion(event.id)
  const { fireAt } = filled
  const saved: FlowRow = { id, ...of, version, availableAt: fireAt, dueAt: fireAt, state: stateOf(filled) }
  arrival.changes.push({ type: 'flow.saved', row: saved })
}

/** Creates the run of a due buffer; undefined when the buffer is not due. With `isFlushed` any buffer counts as due. */
export function decideDueBuffer(due: DueRow & { isFlushed?: true }): DueRowDecision | undefined {
  const { row, workflow, suspended, now, report, isFlushed } = due
  const open = bufferOf(row)
  if (!open) return undefined
  const guards: Guard[] = [{ type: 'flow', id: row.id, version: row.version }]
  if (open.fireAt > now && !isFlushed) {
    // The clock was set back since the claim. A row without a lease was saved meanwhile by an event that joined.
    if (row.leaseOwner === undefined) return undefined
    return { guards, changes: [{ type: 'flow.saved', row: released(row, open.fireAt) }] }
  }
  const deleted: Change = { type: 'flow.deleted', id: row.id }
  if (!workflow) return { guards, changes: [deleted], dropped: 'the workflow is no longer registered' }
  if (suspended) {
    return { guards, changes: [{ type: 'flow.saved', row: released(row, now + SUSPENDED_RECHECK_MS) }] }
  }
  return {
    guards,
    changes: [{ type: 'run.created', run: bufferedRun(open, { workflow, now, report }) }, deleted],
  }
}

/** A buffer as lists show it. */
export interface BufferView {
  /** Number of its events. */
  count: number
  firstAt: number
  lastAt: number
  dueAt: number
  eventName: string
  firstEventId: string
  lastEventId: string
}

/** The buffer of a stored row; undefined for a row of another policy. */
export function bufferView(row: FlowRow): BufferView | undefined {
  if (row.policy !== 'debounce' && row.policy !== 'batch') return undefined
  const { firstAt, lastAt, fireAt, event, eventIds, unlisted = 0 } = headOf(objectMembers(row.state))
  const [firstEventId, lastEventId] = [eventIds[0] as string, eventIds.at(-1) as string]
  const count = eventIds.length + unlisted
  return { count, firstAt, lastAt, dueAt: fireAt, eventName: event.name, firstEventId, lastEventId }
}

/** The buffer of a row; undefined when the same decision has deleted the row. */
function bufferOf({ state }: FlowRow): Buffer | undefined {
  if (state === EMPTY_STATE) return undefined
  const members = objectMembers(state)
  const head = headOf(members)
  const data = members.get('data')
  return data === undefined ? head : { ...head, data }
}

function headOf(members: ReadonlyMap<string, JsonText>): Omit<Buffer, 'data'> {
  return JSON.parse(members.get('head') as string) as Omit<Buffer, 'data'>
}

function stateOf({ data, ...head }: Buffer): JsonText {
  return `{"head":${JSON.stringify(head)}${data === undefined ? '' : `,"data":${data}`}}`
}

/** Whether the payload fits into the buffer, and the buffer was opened under the same kind of rule. */
function hasRoomFor({ count, data = '' }: Buffer, { countMax }: BufferRule, payload = 'null'): boolean {
  if ((count === undefined) !== (countMax === undefined)) return false
  return count === undefined || data.length + 1 + payload.length <= BUFFER_CHARS_MAX
}

/** The buffer with the event added; a new one if none is open. */
function withEvent(open: Buffer | undefined, rule: BufferRule, input: ArrivalInput, singletonKey?: string): Buffer {
  const { event, pin, now } = input
  const trace = open && rule.keepsTrace ? open.trace : input.trace
  const firstAt = open?.firstAt ?? now
  const fireAt = rule.fireAt(firstAt, now)
  const { id, name, data } = event
  const eventIds = open ? [...open.eventIds.slice(0, BUFFER_EVENT_IDS_MAX - 1), id] : [id]
  const unlisted = open && open.eventIds.length >= BUFFER_EVENT_IDS_MAX ? (open.unlisted ?? 0) + 1 : undefined
  const generation = Math.max(open?.generation ?? 0, event.generation ?? 0)
  const engineEvents = Math.max(open?.engineEvents ?? 0, input.engineEvents ?? 0)
  const kept = {
    ...{ firstAt, lastAt: now, fireAt, eventIds },
    ...(generation === 0 ? {} : { generation }),
    ...(engineEvents === 0 ? {} : { engineEvents }),
    ...(unlisted === undefined ? {} : { unlisted }),
  }
  if (open && rule.keepsFirst) return { ...open, ...kept }
  const newest: Buffer = {
    ...kept,
    event: { id, name },
    runner: pin,
    trace,
    singletonKey,
    attributes: rule.countMax === undefined ? input.attributes : mergedAttributes(open?.attributes, input.attributes),
  }
  if (rule.countMax === undefined) return { ...newest, data }
  const collected = collectedWith(open, { name, receivedAt: now })
  return { ...newest, count: (open?.count ?? 0) + 1, collected, data: listWith(open?.data, data) }
}

/** The events of a buffer with one more. In the buffer of an older version, all events count as received with the first. */
function collectedWith(
  open: Buffer | undefined,
  { name, receivedAt }: { name: string; receivedAt: number },
): CollectedEvents {
  if (!open) return { names: [name], receivedAt: [receivedAt] }
  const before = open.collected ?? { names: [open.event.name], receivedAt: open.eventIds.map(() => open.firstAt) }
  const isOneName = before.names.length === 1 && before.names[0] === name
  const each = before.names.length === 1 ? before.receivedAt.map(() => before.names[0] as string) : before.names
  return { names: isOneName ? before.names : [...each, name], receivedAt: [...before.receivedAt, receivedAt] }
}

/** The list of payloads with one more. */
function listWith(list: JsonText | undefined, payload: JsonText = 'null'): JsonText {
  return list === undefined ? `[${payload}]` : `${list.slice(0, -1)},${payload}]`
}

function bufferedRun(buffer: Buffer, under: { workflow: Workflow; now: number; report: Report }): Run {
  const { event, runner: pin, data, generation } = buffer
  const { trace, singletonKey, eventIds, collected, attributes, engineEvents } = buffer
  const { workflow, now, report } = under
  const { namespace } = workflow
  const carried = { namespace, ...event, receivedAt: now, data, ...(generation === undefined ? {} : { generation }) }
  const kept = { trace, singletonKey, eventIds, collected, attributes, engineEvents }
  return eventRun({ event: carried, workflow, pin, ...kept, report })
}
