// The vocabulary of every write. Decisions return these; the store makes a whole unit of them durable at once.

import type { StepError } from '@perdure/protocol'
import type { JsonText } from '../text/json-text.ts'
import type { ControlAction } from './control-action.ts'
import type { Delivery, DeliveryAttempt } from './delivery.ts'
import type { Endpoint } from './endpoint.ts'
import type { Event } from './event.ts'
import type { FlowRow } from './flow-row.ts'
import type { LogLine } from './log-line.ts'
import type { Receiver } from './receiver.ts'
import type { Run, RunStatus } from './run.ts'
import type { Step } from './step.ts'
import type { App, Runner, Workflow } from './workflow.ts'

/** A run_status frame that the run's own row does not tell (creation, first start and end need no row). */
export interface RunStatusFrame {
  seq: number
  ts: number
  status: RunStatus
  attempt: number
}

export type Change =
  /** A new run, queued or (leased in the same commit) running. */
  | { type: 'run.created'; run: Run }
  /**
   * The run's mutable part as it is now, with the frames its moves told but for those of its first start and its
   * end. `started`: this is where it first started. `interrupts`: somebody other than its owner ended it, so
   * that a pass in flight is of no use any more.
   */
  | { type: 'run.moved'; run: Run; frames: RunStatusFrame[]; started?: true; interrupts?: true }
  /** Asks whoever leases the run next to cancel it, and makes it available; nothing when it is terminal. */
  | { type: 'run.cancelRequested'; runId: string; at: number }
  /** Every queued run of the app that is held for want of a runner becomes available. */
  | { type: 'app.runnerArrived'; namespace: string; app: string; at: number }
  /**
   * A run with slots is not under way any more: for each of them the first run that is held for it (highest priority,
   * then oldest) becomes available at `at`.
   */
  | { type: 'slots.freed'; slotIds: string[]; at: number }
  /** The first `count` in line for the id (highest priority, then oldest) become available at `at`, if not before. */
  | { type: 'startQueue.woken'; id: string; count: number; at: number }
  /** A step first seen. `at` is when it came to its status; when it started, if absent. */
  | { type: 'step.recorded'; step: Step; at?: number }
  /** A known, unsettled step as it is now. */
  | { type: 'step.moved'; step: Step; at?: number }
  | StepWoken
  | { type: 'log.written'; line: LogLine }
  | { type: 'event.recorded'; event: Event }
  /** Claims (app, dedupeId) until `expiresAt`; `app` is '' for broadcasts, another scope for webhooks. */
  | { type: 'dedupe.claimed'; namespace: string; app: string; dedupeId: string; expiresAt: number }
  | { type: 'delivery.created'; delivery: Delivery }
  | { type: 'delivery.moved'; delivery: Delivery }
  | { type: 'delivery.attempted'; attempt: DeliveryAttempt }
  /** Inserted when first seen, otherwise nothing. */
  | { type: 'app.seen'; app: App }
  /** `isRepeat`: all that is new about it is when it was seen. */
  | { type: 'runner.registered'; runner: Runner; isRepeat?: true }
  /** A runner that had no id of its own, and whose socket is gone. What it served stays known. */
  | { type: 'runner.forgotten'; namespace: string; app: string; runnerId: string }
  | { type: 'workflow.registered'; workflow: Workflow }
  | { type: 'workflow.dropped'; namespace: string; app: string; name: string }
  /** A webhook endpoint or receiver as it is now, new or changed. */
  | { type: 'endpoint.saved'; endpoint: Endpoint }
  | { type: 'endpoint.deleted'; namespace: string; id: string }
  | { type: 'receiver.saved'; receiver: Receiver }
  | { type: 'receiver.deleted'; namespace: string; id: string }
  /** A flow-control row as it is now, new or changed. */
  | { type: 'flow.saved'; row: FlowRow }
  | { type: 'flow.deleted'; id: string }
  /** An audit entry as it is now: one of many commits is written with each. */
  | { type: 'control.recorded'; action: ControlAction }

/**
 * An outsider (an event, a finished child) settles a parked step. Applies only while the step is `waiting`:
 * the step takes the outcome; its run's fence goes up by one and the step's frame (and, when the run was
 * `waiting`, the `queued` frame after it) take the first seqs of the new fence's range; a `waiting` run turns
 * `queued` and available at `at`; a leased or paused run keeps its status and `availableAt`.
 */
export interface StepWoken {
  type: 'step.woken'
  runId: string
  stepIndex: number
  status: 'succeeded' | 'failed'
  data?: JsonText
  error?: StepError
  eventId?: string
  at: number
}

/** Whether it makes the catalog tell something new, which every engine on the store should know of soon. */
export function changesCatalog(change: Change): boolean {
  switch (change.type) {
    case 'runner.registered':
      return !change.isRepeat
    case 'runner.forgotten':
    case 'workflow.registered':
    case 'workflow.dropped':
    case 'endpoint.saved':
    case 'endpoint.deleted':
    case 'receiver.saved':
    case 'receiver.deleted':
      return true
    default:
      return false
  }
}

/** What a unit was decided on. If one no longer holds at commit, nothing of the unit is written: StaleError. */
export type Guard =
  /** The run exists with this fence. */
  | { type: 'run'; runId: string; fence: number }
  /** No step of the run has a seq above this one. */
  | { type: 'steps'; runId: string; seq: number }
  | { type: 'delivery'; deliveryId: string; fence: number }
  /** The endpoint, or receiver, exists with this version. */
  | { type: 'endpoint'; id: string; version: number }
  | { type: 'receiver'; id: string; version: number }
  /** The flow-control row has this version; 0: there is none. */
  | { type: 'flow'; id: string; version: number }
  /** Exactly these live runs have the singleton key. A run that is asked to cancel is live no more. */
  | { type: 'live'; namespace: string; app: string; workflow: string; key: string; runIds: readonly string[] }
  /** No live run that watches for the event name lies behind position `after` among the watches. */
  | { type: 'watchers'; namespace: string; eventName: string; after: number }
  /** No receiver of any namespace has the slug. */
  | { type: 'slug'; slug: string }
  /** Exactly these steps wait for the event name in the namespace (order does not matter). */
  | { type: 'waiters'; namespace: string; eventName: string; waiters: readonly Waiting[] }
  /** No event of that name received at or after `since` lies behind position `after` in the log. */
  | { type: 'events'; namespace: string; eventName: string; since: number; after: number }
  /** The dedupe id is unclaimed, or its claim ended at or before `now`. */
  | { type: 'dedupe'; namespace: string; app: string; dedupeId: string; now: number }
  /** Nothing of the catalog has changed since this revision of it. */
  | { type: 'catalog'; revision: number }

export interface Waiting {
  runId: string
  stepIndex: number
}

export interface Unit {
  guards: Guard[]
  changes: Change[]
}
