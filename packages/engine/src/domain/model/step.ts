// The step: one durable part of a run, stored under its hashed id (docs/http-api/schemas.md#steprecord).

import type { EventMatch, Op, StepError, StepStatus } from '@perdure/protocol'
import type { JsonText } from '../text/json-text.ts'
import type { Attributes } from './attributes.ts'
import type { Triggered } from './event.ts'
import type { StartKey } from './flow-control.ts'

export type { StepStatus }

/** The pass in which a runner reported a step. */
export interface PassSent {
  /** Number of the pass in its run, from 1, ascending. */
  pass: number
  /** The runner that the pass was sent to. */
  runner: string
  passSentAt: number
}

/** When a runner executed an attempt, by the runner's own clock, within the pass. */
export interface RanTimes {
  ranAt: number
  ranMs: number
}

/** The pass is the pass of the newest attempt; a step that a fork carries has none. */
export interface Step extends Partial<PassSent & RanTimes> {
  runId: string
  /** Hashed step id: an opaque key. */
  id: string
  name: string
  op: Op
  /** Execution order within the run, from 0. Run id and index are the step's key in the store. */
  index: number
  status: StepStatus
  /** The attempt that led to the current status, from 1. */
  attempt: number
  /** Number of the last attempt by the retry policy of the newest failure. Absent if none failed. */
  maxAttempts?: number
  /**
   * Number of the attempt that spent the step's tries, in a workflow with pause on failure. A resume tries the step again, and
   * later tries count from here. The step's frames then have separate rows, because it may settle again.
   */
  spentAt?: number
  /** Seq of the frame of the current status. */
  seq: number
  startedAt: number
  finishedAt?: number
  data?: JsonText
  error?: StepError
  nextAttemptAt?: number
  /** Sleep: when it ends. Wait, child: when it times out. StepRun with a pending retry: when its tries end, by `maxElapsed`. */
  wakeAt?: number
  /** The event that a wait is for; for a signal, its name in the log. */
  eventName?: string
  /** CEL filter of a wait. */
  condition?: string
  /** Only on a wait: the values that its event must have. */
  match?: EventMatch
  /** The key with which an event finds a wait with `match` (domain/expressions/match). */
  matchKey?: string
  /** The event that settled a wait: no later wait of the run may take it again. */
  eventId?: string
  /** The step has succeeded, and the runner can undo it. */
  rollback?: true
  childRunId?: string
  /** The run that a StartRun started or found. */
  startedRunId?: string
  /** The first run of the chain whose end the step waits for. */
  awaitedRunId?: string
  /** Only on a step whose run waits for its workflow to be registered. */
  childStart?: ChildStart | undefined
  deliveryId?: string
  emittedEventId?: string
  /** Only on an Emit whose event had effects. */
  effects?: EmitEffects | undefined
  carried?: boolean
  timedOut?: boolean
  /** Only on a step that was settled by hand. */
  settledBy?: SettledBy
  /** The limit at which the step waits for its turns. */
  limit?: LimitOfStep
  /**
   * When the waiting step got its turn. With `nextAttemptAt` the turn is for passes that are sent from that time on; without
   * it, no pass had the turn. A step that only has `nextAttemptAt` has lost its turn with a pass, and may request another one.
   */
  turnAt?: number | undefined
}

/** A limit that steps share, by its name, and the key under which the step counts. */
export interface LimitOfStep {
  name: string
  key?: string
}

/** The author and the reason of an end by hand. */
export interface SettledBy {
  /** Label of the API key, if it has one. */
  actor?: string
  reason: string
  at: number
}

/** A run that has not started, because no app has its workflow yet. */
export interface ChildStart {
  workflow: string
  app?: string | undefined
  input?: JsonText | undefined
  /** The step fails at this time. */
  until: number
  /** Replaces the priority that the workflow gives the child. */
  priority?: number | undefined
  /** Only for a StartRun, which does not wait for the end of its run. */
  direct?: DirectStart | undefined
}

/** The options of a StartRun. */
export interface DirectStart {
  startKey?: StartKey | undefined
  startAt?: number | undefined
  attributes?: Attributes | undefined
}

/** The effects of an emitted event: steps that it woke, and the workflows that it triggered. */
export interface EmitEffects {
  woke: number
  triggered: Triggered[]
  /** Number of workflows that are not listed. */
  more?: number
}

/** Number of the next attempt. Before its first attempt, a step that waits for its turn has that number. */
export function nextAttempt({ attempt, limit, error }: Pick<Step, 'attempt' | 'limit' | 'error'>): number {
  return limit !== undefined && error === undefined ? attempt : attempt + 1
}

/** When a waiting step ends by itself. For a step that waits at a limit, `wakeAt` only concerns its tries. */
export function timerOf({ limit, wakeAt }: Step): number | undefined {
  return limit === undefined ? wakeAt : undefined
}

/** Whether the step's result is final: a settled step never changes and never runs again. */
export function isSettled(status: StepStatus): boolean {
  return status === 'succeeded' || status === 'failed' || status === 'cancelled'
}

/**
 * An event or a finished child settles a parked step. Applies only while the step is `waiting`: the step gets the outcome and
 * its run's fence rises by one. The step's frame takes the first seq of the new fence's range, followed by the `queued` frame
 * if the run was `waiting`. A `waiting` run turns `queued`, available at `at`; a leased or paused run keeps its status and
 * `availableAt`.
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
