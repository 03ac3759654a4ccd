// A flow-control row that the timers lane has claimed because it is due, and the decision about it.

import type { Report } from '../expressions/matching.ts'
import type { Unit } from '../model/change.ts'
import type { FlowRow } from '../model/flow-row.ts'
import type { Workflow } from '../model/workflow.ts'

export interface DueRow {
  row: FlowRow
  /** The row's workflow, if it is still registered. */
  workflow: Workflow | undefined
  /** Whether the namespace of the row is suspended: then no run is started. */
  suspended: boolean
  now: number
  /** Takes expressions that could not be evaluated. */
  report: Report
}

export interface DueRowDecision extends Unit {
  /** Why the row was deleted without starting its run. */
  dropped?: string
}
