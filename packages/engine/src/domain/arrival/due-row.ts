// What the timers lane asks about a row whose time has come, and what is answered.

import type { Report } from '../expressions/matching.ts'
import type { Change, Guard } from '../model/change.ts'
import type { FlowRow } from '../model/flow-row.ts'
import type { Workflow } from '../model/workflow.ts'

export interface DueRow {
  row: FlowRow
  /** The row's workflow, if it is still registered. */
  workflow: Workflow | undefined
  /** Whether its namespace is: then no run is started. */
  suspended: boolean
  now: number
  /** Told of expressions that could not be evaluated. */
  report: Report
}

export interface DueRowDecision {
  guards: Guard[]
  changes: Change[]
  /** Why what the row stood for came to nothing. */
  dropped?: string
}
