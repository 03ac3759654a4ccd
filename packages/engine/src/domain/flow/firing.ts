// What the timers lane asks about a row whose time has come, and what is answered.

import type { Change, Guard } from '../change.ts'
import type { Report } from '../matching.ts'
import type { Workflow } from '../workflow.ts'
import type { FlowRow } from './flow-row.ts'

export interface FireInput {
  row: FlowRow
  /** The row's workflow, if it is still registered. */
  workflow: Workflow | undefined
  /** Whether its namespace is: then no run is started. */
  suspended: boolean
  now: number
  /** Told of expressions that could not be evaluated. */
  report: Report
}

export interface Firing {
  guards: Guard[]
  changes: Change[]
  /** Why what the row stood for came to nothing. */
  dropped?: string
}
