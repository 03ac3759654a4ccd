// The event and its log record (docs/http-api/schemas.md#eventrecord), and the waits, watches and dedupe ids that it is
// compared with.

import type { EventMatch, MatchValues, Triggered as WireTriggered } from '@perdure/protocol'
import { shownRunId } from '../text/ids.ts'
import type { JsonText } from '../text/json-text.ts'
import type { Traceparent } from '../text/traceparent.ts'
import type { Attributes } from './attributes.ts'

/** The entry of a workflow that an event triggered. */
export interface Triggered extends WireTriggered {
  /** The event that opened the buffer of a debounce or batch. The buffer's run has the same field. The wire does not show it. */
  firstEventId?: string
  /** The event that first used the idempotency key. The wire does not show it. */
  repeatOf?: string
  /** The workflow was paused: the run waits until it is resumed. The wire does not show it. */
  isPaused?: true
}

/** Maximum events in the inbox of a run: as many as it can take in steps. */
export const INBOX_EVENTS_MAX = 10_000

/** The parts of a sent event that the runs which it starts get. */
export interface Carried {
  /** The runner that the runs are pinned to. */
  pin?: string | undefined
  attributes?: Attributes | undefined
  /** The trace that the runs continue. */
  trace?: Traceparent | undefined
  /** Number of engine events in the chain of runs that start each other, including this event; absent: 0. */
  engineEvents?: number | undefined
}

/** The same for an event in an inbox, which starts a run later. */
export interface DeliveredWith extends Omit<Carried, 'pin'> {
  runner?: string | undefined
}

/** An event in the inbox of a run. */
export interface DeliveredEvent {
  event: Pick<Event, 'id' | 'name' | 'data' | 'receivedAt' | 'generation'>
  sent: DeliveredWith
}

/** An inbox as it was read at the end of its run. */
export interface InboxRead {
  /** The first event that the run was not given; absent: there is none. */
  first?: DeliveredEvent
  /** Position of the newest event in it; 0 without one. */
  newest: number
  /** The events that the run had been given when the inbox was read. */
  given: ReadonlySet<string>
}

/** A trigger for the event's name that the event does not meet. */
export interface UnmetTrigger {
  event: string
  /** The filter or the match that the event does not meet. */
  unmet: string | MatchValues
  /** Why the filter cannot be evaluated; absent: it is false. */
  error?: string
}

/** Workflow, app, the trigger's event, the filter or the match that was not met, and why the filter cannot be evaluated. */
export type StartEntry = [workflow: string, app: string, event: string, unmet: string | MatchValues, error?: string]

/** The name by which a workflow is known in its namespace. */
export interface WorkflowName {
  name: string
  app: string
}

export function isSameWorkflow({ name, app }: WorkflowName, other: WorkflowName | undefined): boolean {
  return name === other?.name && app === other.app
}

/** The additional fields of an event that the engine sends. */
export interface EngineEventFacts {
  generation: number
  /** Its number, from 1, among the engine events in the chain of runs that start each other. */
  inRow: number
  /** The workflow that the event does not start: an event of the same kind started the run that has ended. */
  notFor?: WorkflowName
}

/** The facts of the decision about an event beyond `triggered` and `woke`, of bounded length (domain/arrival/record/decided). */
export interface Decided {
  /** The namespace was suspended. */
  suspended?: true
  /** The app that the event was sent to. */
  targetApp?: string
  /**
   * The runner that its runs are pinned to, and their attributes, as they were sent: for runs that are started with the event
   * later.
   */
  runner?: string
  attributes?: Attributes
  /** The workflow that the event does not start, because that is the workflow of its own run. */
  notFor?: WorkflowName
  /** The workflows with a trigger for the name whose condition the event does not meet. */
  unmet?: StartEntry[]
  /** The first runs that the event woke, and the index of the step that waited. */
  woken?: [runId: string, stepIndex: number][]
  /** Number of runs that waited for the name, if some of them were not woken. */
  waited?: number
  warnings?: string[]
  /** Number of entries that did not fit. */
  left?: number
}

/** How a handler answered an update. */
export type UpdateAnswer = { reply: JsonText } | { rejected: string }

export interface Event {
  namespace: string
  id: string
  name: string
  /**
   * The only app whose triggers are considered, or the app of the run that caused the event. Absent for a broadcast to the
   * namespace.
   */
  app?: string
  source: 'api' | 'emit' | 'schedule' | 'engine' | 'signal' | 'update'
  /** Only on a signal or an update: its run; no other run can take it. */
  runId?: string
  /** The scheduled time, if a schedule sent it. */
  scheduledAt?: number
  /** The webhook receiver that accepted it. */
  receiverId?: string
  data?: JsonText
  /** The data was erased with the last run that had it. */
  erased?: true
  receivedAt: number
  /** The generation of the runs that it starts; absent: 0. Events of a run have the run's generation plus one. */
  generation?: number
  woke: number
  triggered: Triggered[]
  /** Only on an answered update. */
  answer?: UpdateAnswer
  /** Absent if `triggered` and `woke` contain everything. */
  decided?: Decided
}

/** The event without the effects that its decision adds. */
export type UndecidedEvent = Omit<Event, 'woke' | 'triggered' | 'decided' | 'answer'>

const HIDDEN = ['firstEventId', 'repeatOf', 'isPaused'] as const

/** The entries as the wire shows them. */
export function wireTriggered(entries: readonly Triggered[]): WireTriggered[] {
  return entries.map(entry => {
    const { liveRunId } = entry
    const live = liveRunId === undefined ? {} : { liveRunId: shownRunId(liveRunId) }
    if (!HIDDEN.some(member => entry[member] !== undefined))
      return liveRunId === undefined ? entry : { ...entry, ...live }
    const { firstEventId: _, repeatOf: _first, isPaused: _paused, ...shown } = entry
    return { ...shown, ...live }
  })
}

/** A parked WaitForEvent or WaitForSignal step. */
export interface Waiter extends Watcher {
  stepIndex: number
  /** When the wait was parked: of several waits in one run, the oldest takes the event. */
  since: number
}

/** A live run with a `cancelOn` for an event name. */
export interface Watcher {
  runId: string
  /** The filter and the match, and the run's trigger. */
  condition?: WaitCondition
  /** Only for `cancelOn` with a timeout: the last time at which an event cancels the run. */
  until?: number
}

/** The condition of a wait or of `cancelOn`: a filter, a match or both. */
export interface WaitCondition {
  filter?: string
  match?: EventMatch
  trigger: { id?: string; name: string; data?: JsonText }
}

/**
 * The paths of a match, in order. Waits for one event name with the same paths are found by one key (domain/expressions/match).
 */
export type MatchPaths = readonly string[]

/** A dedupe id within its scope, and the time of the check. */
export interface DedupeKey {
  namespace: string
  /** The app; '' for broadcasts; webhooks use a separate scope. */
  app: string
  dedupeId: string
  now: number
}

/** How long a dedupe id counts within its scope (docs/events.md#send-an-event). */
export const DEDUPE_WINDOW_MS = 86_400_000
