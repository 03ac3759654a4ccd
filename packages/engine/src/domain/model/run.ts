// The run: one execution of a workflow (docs/http-api/runs.md#run, docs/state-machine.md#run). Pure data and predicates; only
// run/draft changes it.

import {
  type RunError,
  type RunStatus,
  type StepError,
  TERMINAL_STATUSES,
  type WaitingFor as WireWaitingFor,
} from '@perdure/protocol'
import { boundedKey } from '../text/bounded-key.ts'
import type { JsonText } from '../text/json-text.ts'
import type { Attributes } from './attributes.ts'
import type { RunBudget } from './budget/budget.ts'
import type { CancelOn, Holds } from './flow-control.ts'
import type { PassSent } from './step.ts'

export type { RunStatus }

/** The newest progress that the handler reported, and the seq of its frame. */
export interface RunProgress {
  value: JsonText
  at: number
  seq: number
}

/** Why a parked run sleeps; `until` is epoch ms here and a timestamp on the wire. */
export type WaitingFor = Omit<WireWaitingFor, 'until'> & {
  until?: number
  /** Only for a failure: ids of the failed steps that a resume tries again. The wire does not show them. */
  stepIds?: string[]
  /** The run waits until other suspects have been tried. The wire does not show it. */
  isForTurn?: true
  /** Only for a budget: its id. The wire does not show it. */
  budgetId?: string
}

/** Why the newest pass failed. The wire does not show the suspicion. */
export type LastFailure = RunError & { suspicion?: Suspicion }

/** The run's pass was lost together with others of its runner: any of them may have ended the process (pass/answer/suspicion). */
export interface Suspicion {
  /** Shared losses since the last progress; they spent no try. */
  losses: number
  /** How many suspects may be under way on one runner during the next pass, including this one. */
  atOnce: number
  /** How long the lost pass had been under way. */
  ranMs: number
  /** When the newest pass was lost. */
  lostAt: number
}

/** The events whose payloads are the input of a run, in the same order; their ids are the run's `eventIds`, or its trigger's. */
export interface CollectedEvents {
  /** The name of each event, or one name that all of them have. */
  names: string[]
  receivedAt: number[]
}

/** A run executes the handler of its workflow, or the failure handler, or it cleans up after another run. */
export type RunKind = 'run' | 'onFailure' | 'cleanup'

export interface Run {
  namespace: string
  id: string
  workflow: string
  app: string
  status: RunStatus
  triggerKind: 'event' | 'cron'
  /** Only on runs that an event started, and on their forks. */
  eventName?: string
  /** The event that started the run; absent on forks, children, cron and on-failure runs. */
  eventId?: string
  /** The events of a burst or batch that became the run or its source, in the order of the log; the first opened the buffer. */
  eventIds?: string[]
  /** Only on a run whose input is a list of payloads: the events of these payloads. */
  collected?: CollectedEvents
  cron?: string
  replayOf?: string
  /** The previous run in its chain (run/finish). */
  continuedFrom?: string
  /** The first run of its chain; absent on that run itself. */
  chainId?: string
  parentRunId?: string
  /** The step that started the run directly. The run outlives its starter. */
  startedBy?: { runId: string; stepName: string }
  /** The run is not sent to a runner before this time. */
  startAt?: number
  /** Index of the parent's RunWorkflow step that waits for this run's end; absent if none does. */
  parentStepIndex?: number
  /** Number of earlier runs in a chain of runs that start each other (holds/generations); absent: 0. */
  generation?: number
  /** Number of engine events in that chain (run/later/ended-event); absent: 0. */
  engineEvents?: number
  /** The `traceparent` that the run continues; absent: the run has its own trace (text/traceparent). */
  trace?: string
  /** The runner id this run is pinned to; absent for an anycast run. */
  runner?: string
  /** Id and name of the `event` in every invoke of this run; its data is `input`. */
  trigger: { id?: string; name: string }
  /** Only on an on-failure run: the error of the run that it follows. */
  failure?: StepError
  /** Only on a cleanup run, and its forks: the run after which it cleans up. */
  cleanupOf?: string
  /** The budgets of the run, first that of its outermost ancestor, last its own; fixed at creation. */
  budgets?: RunBudget[]
  input?: JsonText
  result?: JsonText
  /** The next run of its chain: the run itself has no result. */
  continuedAs?: string
  error?: RunError
  /** Starts at 1; rises by 1 for every pass that is repeated because a step attempt or the transport failed. */
  attempt: number
  /** Passes that failed since the last 2xx, checkpoint or resume: in the transport, or because the handler threw. */
  transportTries: number
  /** Why the newest of these passes failed, or why the run is paused. */
  lastFailure?: LastFailure
  createdAt: number
  startedAt?: number
  /** Seq of the frame of the first start. With it and `finishedSeq`, creation, first start and end need no frame row. */
  startedSeq?: number
  finishedAt?: number
  finishedSeq?: number
  waitingFor?: WaitingFor
  /** Absent: the run has no attributes. */
  attributes?: Attributes
  /** Absent: its handler has reported no progress. */
  progress?: RunProgress
  /** Singleton key of a run. At most one live run of the workflow has it. */
  singletonKey?: string
  /** The key with which the run was started directly. At most one live run of the workflow has it. */
  startKey?: string
  /** Events that cancel the run; fixed at creation. */
  cancelOn?: CancelOn[]
  /** The limits of flow control that the run waits for; fixed at creation. */
  holds?: Holds
  /** Due runs of a higher priority are leased first; absent: 0. */
  priority?: number
  /** Id of the concurrency slot in whose queue the run waits: the slot was full at the run's last claim. */
  waitsForSlot?: string
  /** Id of the throttle in whose start queue the run waits. */
  startQueue?: string
  /** On a leased run: the lease took no slots, because the run only ends or settles timers under it. */
  leasedWithoutSlots?: true
  /** A step of another run waits, or waited, for the end of this run's chain. */
  awaited?: boolean
  /** The run, or an earlier run of its chain, has got a signal. */
  signalled?: boolean
  /**
   * Id of the inbox of events that a singleton delivered: the id of the first of consecutive runs that got one. Absent: none
   * was delivered.
   */
  inbox?: string
  /** The next lease cancels the run, for example because its parent ended. */
  cancelRequested?: boolean
  /** The run was cancelled, or will be, by a caller who wants no cleanup. */
  skipsCleanup?: true
  /** Rises with every decision on a freshly loaded run; later commits of an owner check it (run/draft). */
  fence: number
  /** When a lane may claim the run: schedule, lease, park and crash recovery at once. Absent until a wake-up sets it. */
  availableAt?: number
  /** The engine that holds the lease; absent without a lease. */
  leaseOwner?: string
  /**
   * The newest pass when the row was last written; steps may know newer passes. `knew`, only for a run with delivered events:
   * the seq of the last step that its runner knew.
   */
  lastPass?: PassSent & { knew?: number }
}

/** The kind of the run: an on-failure run has the error of the run that it follows, a cleanup run its id. */
export function runKind({ failure, cleanupOf }: Pick<Run, 'failure' | 'cleanupOf'>): RunKind {
  if (cleanupOf !== undefined) return 'cleanup'
  return failure === undefined ? 'run' : 'onFailure'
}

export type EndedStatus = (typeof TERMINAL_STATUSES)[number]

const TERMINAL: ReadonlySet<RunStatus> = new Set(TERMINAL_STATUSES)

/** Whether the run has ended for good: a terminal status never changes. */
export function isTerminal(status: RunStatus): boolean {
  return TERMINAL.has(status)
}

/** `finishedAt - startedAt` in ms, 0 if the clock was set back between; 0 without a start, undefined until it ends. */
export function runDurationMs(run: Pick<Run, 'startedAt' | 'finishedAt'>): number | undefined {
  if (run.finishedAt === undefined) return undefined
  return run.startedAt === undefined ? 0 : Math.max(0, run.finishedAt - run.startedAt)
}

/**
 * The key of the runners that the run's passes may go to: runs with the same key can go to the same runners. A destination
 * without room delays only its own runs.
 */
export function runDestination({ namespace, app, workflow, runner = '', cleanupOf }: RunnersOfRun): string {
  const ofKind = cleanupOf === undefined ? '' : '\ncleanup'
  return boundedKey(`${namespace}\n${app}\n${workflow}\n${runner}${ofKind}`)
}

/** The fields by which a run is routed. */
export type RunnersOfRun = Pick<Run, 'namespace' | 'app' | 'workflow' | 'runner' | 'cleanupOf'>

/** The key of an app among the apps of all namespaces. */
export function appKey({ namespace, app }: Pick<Run, 'namespace' | 'app'>): string {
  return `${namespace}\n${app}`
}

/** Selects runs: every field that is present narrows the selection. Times are epoch ms. */
export interface RunFilter {
  app?: string
  /** A bulk action may also store a pattern, such as `sync-*`: its `workflows` are the matching names. */
  workflow?: string
  /** The run's workflow is one of these. */
  workflows?: readonly string[]
  /** `running` also matches waiting. */
  status?: readonly RunStatus[]
  runType?: 'event' | 'cron'
  kind?: RunKind
  /** Only runs created then or later. */
  since?: number
  /** Only runs created before. */
  until?: number
  /** Only runs that ended then or later. */
  endedSince?: number
  /** Only runs that ended before. */
  endedUntil?: number
  /** The fingerprint of the error of a failed run (domain/view/errors/error-fingerprint). */
  error?: string
  parentRunId?: string
  /** Only runs without a parent. */
  root?: boolean
  eventId?: string
  replayOf?: string
  /** The runner that the run is pinned to. */
  runner?: string
  /** The key with which the run was started directly. */
  key?: string
  /** The kind of reason for which the run waits. */
  waitingFor?: WaitingFor['kind']
  /** Attributes as `key:value`; the run has all of them. */
  attribute?: readonly string[]
  /** Part of the id, the workflow or the app; case is ignored. */
  q?: string
  /** Widens `q` to input, result and error. */
  deep?: boolean
  ids?: readonly string[]
  /** Only runs that this bulk job made. */
  bulkId?: string
  /** Only runs that have a fork. */
  isForked?: true
}
