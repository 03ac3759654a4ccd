// The event and its log record (contract §2.7, §6), and the waits and dedupe ids it meets.

import type { Triggered } from '@perdure/protocol'
import type { JsonText } from '../text/json-text.ts'

export type { Triggered }

export interface Event {
  namespace: string
  id: string
  name: string
  /** App the event is scoped to or was emitted by; absent for a namespace-wide broadcast. */
  app?: string
  source: 'api' | 'emit'
  data?: JsonText
  receivedAt: number
  woke: number
  triggered: Triggered[]
}

/** A parked WaitForEvent step, addressed for waking. */
export interface Waiter {
  runId: string
  stepIndex: number
  /** The wait's filter, and what began its run. */
  condition?: WaitCondition
  /** When the wait was parked: with several waits in one run, the oldest takes the event. */
  since: number
}

/** A live run that an event of some name is to cancel. */
export interface Watcher {
  runId: string
  condition?: WaitCondition
}

export interface WaitCondition {
  filter: string
  trigger: { id?: string; name: string; data?: JsonText }
}

/** A dedupe id, of whom, and when it is looked at. */
export interface DedupeKey {
  namespace: string
  /** The app, '' for broadcasts, another scope for webhooks. */
  app: string
  dedupeId: string
  now: number
}

/** Dedupe ids are kept per app (or for the broadcast scope, '') for this long (contract §8). */
export const DEDUPE_WINDOW_MS = 86_400_000
