// The event and its log record (docs/http-api.md#eventrecord), and the waits, watches and dedupe ids that it is matched with.

import type { Triggered as WireTriggered } from '@perdure/protocol'
import type { JsonText } from '../text/json-text.ts'

/** The entry of a workflow that an event triggered. */
export interface Triggered extends WireTriggered {
  /** The event that opened the buffer of a debounce or batch. The buffer's run has the same. The wire does not show it. */
  firstEventId?: string
}

export interface Event {
  namespace: string
  id: string
  name: string
  /** App that the event is limited to or was emitted by; absent for a broadcast to the namespace. */
  app?: string
  source: 'api' | 'emit' | 'schedule'
  /** The instant of the schedule that sent it. */
  scheduledAt?: number
  /** The webhook receiver that took it in. */
  receiverId?: string
  data?: JsonText
  /** The data was erased with the last run that had it. */
  erased?: true
  receivedAt: number
  woke: number
  triggered: Triggered[]
}

/** The entries as the wire shows them. */
export function wireTriggered(entries: readonly Triggered[]): WireTriggered[] {
  return entries.map(entry => {
    if (entry.firstEventId === undefined) return entry
    const { firstEventId: _, ...shown } = entry
    return shown
  })
}

/** A parked WaitForEvent step. */
export interface Waiter extends Watcher {
  stepIndex: number
  /** When the wait was parked: of several waits in one run, the oldest takes the event. */
  since: number
}

/** A live run with a `cancelOn` for an event name. */
export interface Watcher {
  runId: string
  /** The filter, and the run's trigger. */
  condition?: WaitCondition
}

export interface WaitCondition {
  filter: string
  trigger: { id?: string; name: string; data?: JsonText }
}

/** A dedupe id within its scope, and the time of the check. */
export interface DedupeKey {
  namespace: string
  /** The app; '' for broadcasts; webhooks use a scope of their own. */
  app: string
  dedupeId: string
  now: number
}

/** How long a dedupe id counts within its scope (docs/events.md#send-an-event). */
export const DEDUPE_WINDOW_MS = 86_400_000
