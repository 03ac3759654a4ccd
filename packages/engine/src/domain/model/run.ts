// The run: one execution of a workflow (contract §2.1, §3). Pure data and predicates; `draft.ts` alone moves it.

import type { RunError, RunStatus, StepError, WaitingFor as WireWaitingFor } from '@perdure/protocol'
import type { JsonText } from '../text/json-text.ts'
import type { CancelOn } from './flow-control.ts'
import type { Holds } from './holds.ts'

export type { RunError, RunStatus, StepError }

/** Why a parked run sleeps; times are epoch ms here and timestamps on the wire. */
export interface WaitingFor {
  kind: WireWaitingFor['kind']
  stepName?: string
  until?: number
  eventName?: string
  childRunId?: string
  key?: string
  /** Why the last pass came to nothing, where that one is repeated. */
  error?: string
}

export interface Run {
  namespace: string
  id: string
  workflow: string
  app: string
  status: RunStatus
  triggerKind: 'event' | 'cron'
  /** Only on runs an event (or a fork of such a run) started. */
  eventName?: string
  /** The event record that fanned out; absent on forks, children, cron and on-failure runs. */
  eventId?: string
  cron?: string
  replayOf?: string
  parentRunId?: string
  /** Index of the parent's RunWorkflow step that waits for this run's end; absent when nobody waits. */
  parentStepIndex?: number
  /** The `traceparent` of whoever began its trace; absent: it has a trace of its own (`domain/text/traceparent`). */
  trace?: string
  /** The runner id this run is pinned to; absent for an anycast run. */
  runner?: string
  /** The head of the `event` of every invoke of this run; its data is `input`. */
  trigger: { id?: string; name: string }
  /** Present on an on-failure run: the error that ended the run it follows. */
  failure?: StepError
  input?: JsonText
  result?: JsonText
  error?: RunError
  /** Starts at 1; +1 for every pass repeated because a step attempt or the transport failed. */
  attempt: number
  /** Transport failures since the last 2xx; the transport budget is spent by these alone. */
  transportTries: number
  createdAt: number
  startedAt?: number
  /** Seq of the frame that told the first start; with `createdAt` and `finishedSeq` these frames need no row. */
  startedSeq?: number
  finishedAt?: number
  finishedSeq?: number
  waitingFor?: WaitingFor
  /** On a run that an event started under a singleton policy: its key. At most one such run is live. */
  singletonKey?: string
  /** Events that cancel it; fixed at creation. */
  cancelOn?: CancelOn[]
  /** What its workflow's flow control makes it wait for; fixed at creation. */
  holds?: Holds
  /** Due runs of a higher one are leased first; absent: 0. */
  priority?: number
  /**
   * The slot, or the throttle, in whose line it waits. On a leased run it says that the lease came without slots, for
   * the run is to end or to settle timers.
   */
  heldSlot?: string
  /** Set when a parent ended or was cancelled: whoever leases the run next cancels it. */
  cancelRequested?: boolean
  /** Bumped by everyone who decides on a freshly loaded run; an owner's later commits check it. See `draft.ts`. */
  fence: number
  /** When a lane may claim the run: schedule, lease, park and crash recovery at once. Absent: only when woken. */
  availableAt?: number
  /** The engine that holds the lease, while one does. */
  leaseOwner?: string
}

export const RUN_STATUSES = [
  'queued',
  'running',
  'waiting',
  'paused',
  'succeeded',
  'failed',
  'cancelled',
] as const satisfies readonly RunStatus[]

const TERMINAL: ReadonlySet<RunStatus> = new Set(['succeeded', 'failed', 'cancelled'])

/** Whether the run has ended for good: a terminal status never changes. */
export function isTerminal(status: RunStatus): boolean {
  return TERMINAL.has(status)
}

/** `finishedAt - startedAt` in ms, 0 when it ended before it started, undefined while it has not ended. */
export function runDurationMs(run: Pick<Run, 'startedAt' | 'finishedAt'>): number | undefined {
  if (run.finishedAt === undefined) return undefined
  return run.startedAt === undefined ? 0 : run.finishedAt - run.startedAt
}
