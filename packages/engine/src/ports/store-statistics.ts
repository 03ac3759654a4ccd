// Statistics of a namespace: a part of `Reads` (store-reads.ts), its queries and its answers.

import type { RunError, WaitingFor } from '@perdure/protocol'
import type { ErrorState, StoredState } from '../domain/model/document/error-state.ts'
import type { RunKind, RunStatus } from '../domain/model/run.ts'
import type { Durations } from '../domain/view/durations.ts'
import type { SeriesStep } from '../domain/view/rollup-span.ts'
import type { RunTally } from '../domain/view/run-tally.ts'
import type { TrendSpans } from '../domain/view/trend-spans.ts'
import type { PostTally } from '../domain/webhook/attempt-tally.ts'

export interface RunScope {
  app?: string | undefined
  workflow?: string | undefined
}

/** Equal spans of time, one after the other. */
export interface Trend {
  spans: number
  spanMs: number
}

/** Both times are starts of steps (`spanStart`). */
export interface RunSeriesQuery extends RunScope {
  step: SeriesStep
  since: number
  until: number
}

/** Without an endpoint, posts to all endpoints count. */
export interface EndpointSeriesQuery extends Pick<RunSeriesQuery, 'step' | 'since' | 'until'> {
  endpointId?: string | undefined
}

/** Both times are times of `totalSince`; absent: all time. Live runs are always the present ones. */
export interface RunTotalsQuery extends RunScope {
  since?: number | undefined
  until?: number | undefined
  /** Counts alone are faster to read: the tallies then lack durations. */
  countsOnly?: boolean
  /** The spans in which the runs of each workflow are counted too. */
  trend?: TrendSpans | undefined
}

export interface RunTotals {
  workflows: WorkflowTally[]
  /** All live runs, in groups. */
  live: LiveRuns[]
}

/** Runs of a workflow that were created, and that ended, between the times. */
export interface WorkflowTally {
  app: string
  workflow: string
  tally: RunTally
  /** Present if the query has a trend. */
  trend?: WorkflowTrend
}

/** The runs that were created in each span of a trend, and the runs that failed. */
export interface WorkflowTrend {
  started: number[]
  failed: number[]
}

/** Live runs of one workflow that have the same kind and status and wait for the same kind of thing. */
export interface LiveRuns {
  app: string
  workflow: string
  kind: RunKind
  status: RunStatus
  waitingKind: WaitingFor['kind'] | undefined
  runs: number
  /** Number of these runs that were created between the times. */
  created: number
}

/** The last failed run of a workflow's handler. */
export interface LastFailure {
  app: string
  workflow: string
  runId: string
  at: number
  error: RunError
}

export interface FailuresQuery extends RunScope {
  /** Only runs that failed then or later. */
  since: number
  /** Only runs that failed before. */
  until?: number | undefined
}

export interface ErrorGroupsQuery extends FailuresQuery {
  limit: number
  /** Only groups in this state; `open` includes groups that have regressed. */
  state?: 'open' | StoredState | undefined
  trend?: Trend | undefined
  /** How many runners are counted for each group. */
  runners?: number | undefined
}

/** Failed runs with one fingerprint. */
export interface ErrorGroup {
  fingerprint: string
  app: string
  workflow: string
  count: number
  firstAt: number
  lastAt: number
  /** When the oldest stored run of the group ended, perhaps before the start of the query. */
  firstSeenAt: number
  lastRunId: string
  state: ErrorState
  /** The stored state: when it was set, and the label of the key that set it. */
  stateSetAt?: number
  stateSetBy?: string
  /** The error of the last run. */
  error: RunError
  kind: RunKind
  /** The runner of the last run's last pass, if it had one. */
  lastRunner?: string
  /** The failures in each span of the trend. */
  trend?: number[]
  /** The runners of the last passes, the one with most failures first. */
  runners?: { runnerId: string; count: number }[]
}

/** Callbacks of one step that ended, in the newest ended runs. */
export interface StepDurations {
  app: string
  workflow: string
  name: string
  count: number
  durations: Durations
}

/** All of these except `runsWithoutRunner` are scans: see `Reads`. */
export interface StatisticsReads {
  /** The newest failures by fingerprint, the largest group first. */
  errorGroups(query: ErrorGroupsQuery, signal?: AbortSignal): Promise<ErrorGroup[]>
  /** Runs over time: the spans in which any run was created or ended, by start time. Each run counts once. */
  runSeries(query: RunSeriesQuery, signal?: AbortSignal): Promise<Map<number, RunTally>>
  /** The numbers of runs of every workflow. Each run counts once. */
  runTotals(query: RunTotalsQuery, signal?: AbortSignal): Promise<RunTotals>
  /** The last failure of each workflow since a time, and before another one. */
  lastFailures(query: FailuresQuery, signal?: AbortSignal): Promise<LastFailure[]>
  /** The steps of the newest 200 ended runs of the scope. */
  stepDurations(scope: RunScope, signal?: AbortSignal): Promise<StepDurations[]>
  /** Runs for which no runner could be reached, by app: at most 100,000 are counted. */
  runsWithoutRunner(): Promise<{ app: string; runs: number }[]>
  /** The posts of each span that has any, by start time. */
  endpointSeries(query: EndpointSeriesQuery, signal?: AbortSignal): Promise<Map<number, PostTally>>
}
