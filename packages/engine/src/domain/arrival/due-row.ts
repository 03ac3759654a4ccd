// A flow-control row that the timers lane has claimed because it is due, and the decision about the row.

import type { Report } from '../expressions/matching.ts'
import type { CatalogView } from '../model/catalog.ts'
import type { DecidedUnit } from '../model/decision.ts'
import type { FlowRow } from '../model/flow-row.ts'
import type { Workflow } from '../model/workflow.ts'
import type { Assumptions } from '../run/assumptions.ts'

export interface DueRow {
  row: FlowRow
  /** The row's workflow, if it is still registered. */
  workflow: Workflow | undefined
  /** Whether the namespace of the row is suspended; if so, no run is started. */
  suspended: boolean
  catalog: CatalogView
  assumptions: Assumptions
  now: number
  /** Receives expressions that could not be evaluated. */
  report: Report
}

export interface DueRowDecision extends DecidedUnit {
  /** Why the row was deleted without starting its run. */
  dropped?: string
}
