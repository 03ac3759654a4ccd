// Buffers of events that are to become one run: what debounce and batch have in common. A buffer is a flow-control
// row; it is closed, and its run created, by the event that fills it, by the first event that finds it overdue, or by
// the timers lane. Whoever comes first, the run is the same: an event belongs to the buffer that was open when it came.

import { keyOf } from '../expressions/key.ts'
import type { Report } from '../expressions/matching.ts'
import type { Change, Guard } from '../model/change.ts'
import { type FlowPolicy, type FlowRow, firstVersion, flowRowId } from '../model/flow-row.ts'
import type { Run } from '../model/run.ts'
import type { Workflow } from '../model/workflow.ts'
import { EMPTY_STATE } from '../run/assumptions.ts'
import { eventRun } from '../run/create.ts'
import { type JsonText, objectMembers } from '../text/json-text.ts'
import type { Traceparent } from '../text/traceparent.ts'
import type { DueRow, DueRowDecision } from './due-row.ts'
import type { Arrival, ArrivalInput } from './policy.ts'

/** Most text of one buffer's payloads, beyond that of a single one. */
export const BUFFER_CHARS_MAX = 1024 * 1024
/** While its namespace is suspended, an overdue buffer is looked at this often. */
const SUSPENDED_RECHECK_MS = 60_000

export interface Buffer {
  /** When its first event came. */
  firstAt: number
  /** When it becomes a run, if nothing else happens. */
  fireAt: number
  /** The event that its run will name, and the runner that one was pinned to. */
  event: { id: string; name: string }
  runner?: string
  /** The trace its run goes on in: that of the event it names, of a batch that of its first one. */
  trace?: Traceparent
  /** Of that run, if its workflow has one. */
  singletonKey?: string
  /** How many payloads `data` is a list of; absent when it is a single one. */
  count?: number
  data?: JsonText
}

/** How a policy buffers. */
export interface BufferRule {
  policy: Extract<FlowPolicy, 'debounce' | 'batch'>
  /** The expression of its key. */
  key: string | undefined
  fireAt(firstAt: number, now: number): number
  /** Collects every payload, up to so many; one payload alone is kept if absent. */
  countMax?: number
  /** The run is that of the first event, not of the last. */
  keepsFirst?: boolean
  /** The run goes on in the trace of the first event, also where it names the last. */
  keepsTrace?: boolean
}

/** Puts the event into its buffer, and creates the runs of buffers that this closes. */
export function buffer(rule: BufferRule, input: ArrivalInput, arrival: Arrival): void {
  const { event, workflow, assumptions, now, report } = input
  const { namespace, app, name } = workflow
  const of = { namespace, app, workflow: name, policy: rule.policy, key: keyOf(rule.key, input) }
  const id = flowRowId(of)
  const row = assumptions.flow.get(id) ?? undefined
  arrival.guards.push({ type: 'flow', id, version: row?.version ?? 0 })
  let open = row && bufferOf(row)
  if (open && (open.fireAt <= now || !hasRoomFor(open, rule, event.data))) {
    arrival.changes.push({ type: 'run.created', run: bufferedRun(open, { workflow, now, report }) })
    open = undefined
  }
  const filled = withEvent(open, rule, input, arrival.singletonKey)
  if (filled.count !== undefined && filled.count >= (rule.countMax ?? Infinity)) {
    const run = bufferedRun(filled, { workflow, now, report })
    arrival.changes.push({ type: 'run.created', run })
    arrival.entry.runId = run.id
    if (row) arrival.changes.push({ type: 'flow.deleted', id })
    return
  }
  const version = row?.version ? row.version + 1 : firstVersion(event.id)
  const saved: FlowRow = { id, ...of, version, availableAt: filled.fireAt, state: stateOf(filled) }
  arrival.changes.push({ type: 'flow.saved', row: saved })
}

/** Creates the run of a buffer that is due; undefined when it is not. */
export function decideDueBuffer({
  row,
  workflow,
  suspended,
  now,
  report,
}: DueRow): DueRowDecision | undefined {
  const open = bufferOf(row)
  if (!open || open.fireAt > now) return undefined
  const guards: Guard[] = [{ type: 'flow', id: row.id, version: row.version }]
  const deleted: Change = { type: 'flow.deleted', id: row.id }
  if (!workflow) return { guards, changes: [deleted], dropped: 'the workflow is not registered any more' }
  if (suspended) {
    const { leaseOwner: _, ...held } = row
    const later: FlowRow = { ...held, version: row.version + 1, availableAt: now + SUSPENDED_RECHECK_MS }
    return { guards, changes: [{ type: 'flow.saved', row: later }] }
  }
  return {
    guards,
    changes: [{ type: 'run.created', run: bufferedRun(open, { workflow, now, report }) }, deleted],
  }
}

/** What a row holds; undefined when the decision itself has emptied it. */
function bufferOf({ state }: FlowRow): Buffer | undefined {
  if (state === EMPTY_STATE) return undefined
  const members = objectMembers(state)
  const head = JSON.parse(members.get('head') as string) as Omit<Buffer, 'data'>
  const data = members.get('data')
  return data === undefined ? head : { ...head, data }
}

function stateOf({ data, ...head }: Buffer): JsonText {
  return `{"head":${JSON.stringify(head)}${data === undefined ? '' : `,"data":${data}`}}`
}

/** Whether one more payload fits in, and the buffer was begun under the same kind of rule. */
function hasRoomFor({ count, data = '' }: Buffer, { countMax }: BufferRule, payload = 'null'): boolean {
  if ((count === undefined) !== (countMax === undefined)) return false
  return count === undefined || data.length + 1 + payload.length <= BUFFER_CHARS_MAX
}

function withEvent(
  open: Buffer | undefined,
  rule: BufferRule,
  input: ArrivalInput,
  singletonKey?: string,
): Buffer {
  const { event, pin, now } = input
  const trace = open && rule.keepsTrace ? open.trace : input.trace
  const firstAt = open?.firstAt ?? now
  const fireAt = rule.fireAt(firstAt, now)
  if (open && rule.keepsFirst) return { ...open, fireAt }
  const { id, name, data } = event
  const newest: Buffer = {
    firstAt,
    fireAt,
    event: { id, name },
    ...(pin === undefined ? {} : { runner: pin }),
    ...(trace === undefined ? {} : { trace }),
    ...(singletonKey === undefined ? {} : { singletonKey }),
  }
  if (rule.countMax === undefined) return { ...newest, ...(data === undefined ? {} : { data }) }
  const payload = data ?? 'null'
  const list = open?.data === undefined ? `[${payload}]` : `${open.data.slice(0, -1)},${payload}]`
  return { ...newest, count: (open?.count ?? 0) + 1, data: list }
}

function bufferedRun(buffer: Buffer, under: { workflow: Workflow; now: number; report: Report }): Run {
  const { event, runner: pin, trace, singletonKey, data } = buffer
  const { workflow, now, report } = under
  const { namespace } = workflow
  const carried = { namespace, ...event, receivedAt: now, ...(data === undefined ? {} : { data }) }
  return eventRun({ event: carried, workflow, pin, trace, singletonKey, report })
}
