// Statistics of the runs of a namespace, as the store answers them: queries and answers of `Reads` (store-reads.ts).

import type { RunError, WaitingFor } from '@perdure/protocol'
import type { RunStatus } from '../domain/model/run.ts'
import type { Durations } from '../domain/view/durations.ts'
import type { SeriesStep } from '../domain/view/rollup-span.ts'
import type { RunTally } from '../domain/view/run-tally.ts'

export interface RunScope {
  app?: string | undefined
  workflow?: string | undefined
}

/** Both times are starts of steps (`spanStart`). */
export interface RunSeriesQuery extends RunScope {
  step: SeriesStep
  since: number
  until: number
}

/** `since` is a time of `totalSince`; absent: all time. */
export interface RunTotalsQuery extends RunScope {
  since?: number | undefined
}

export interface RunTotals {
  workflows: WorkflowTally[]
  /** All live runs, in groups. */
  live: LiveRuns[]
}

/** Runs of a workflow that were created, and that ended, since the time. */
export interface WorkflowTally {
  app: string
  workflow: string
  tally: RunTally
}

/** Live runs of a workflow with one status that wait for the same kind of thing. */
export interface LiveRuns {
  app: string
  workflow: string
  status: RunStatus
  waitingKind: WaitingFor['kind'] | undefined
  runs: number
}

/** The last failed run of a workflow. */
export interface LastFailure {
  app: string
  workflow: string
  runId: string
  at: number
  error: RunError
}

/** Callbacks of one step that ended, in the newest ended runs. */
export interface StepDurations {
  app: string
  workflow: string
  name: string
  count: number
  durations: Durations
}
