// What the decision about a pass, or a checkpoint of one, needs besides the run and what the runner reported.

import type { FilterFault } from '../../expressions/matching.ts'
import type { CatalogView } from '../../model/catalog.ts'
import type { Assumptions } from '../../run/assumptions.ts'

/** What the runner knows of the run: from the memo that the pass was sent with, then from the ack of each checkpoint. */
export interface RunnerKnowledge {
  /** When it was told last: what it reports next began then. */
  asOf: number
  /** How many settled steps it knows. */
  settled: number
  /** It knows every settled step up to this seq. */
  seq: number
  /** An ack told it of settled steps: that the pass brings nothing more at its end is no fault of it. */
  wasSentSettled: boolean
  /** It was asked to end the pass, although there may be more to do. */
  stopRequested: boolean
}

/** The pass that is under way. */
export interface SentPass {
  /** When it was sent: whether a retry was due is measured by it. */
  sentAt: number
  /** The run's attempt that it was sent with. */
  sentAttempt: number
  knowledge: RunnerKnowledge
}

/** Log lines of a workflow's runner that could not be read. */
export interface LinesFault {
  of: { app: string; workflow: string }
  /** How many. */
  unread: number
  /** Of the first. */
  error: string
}

/** Told of filters that could not be evaluated, and of log lines that could not be read. */
export type PassReport = (fault: FilterFault | LinesFault) => void

export interface PassContext extends SentPass {
  now: number
  random(): number
  catalog: CatalogView
  assumptions: Assumptions
  report: PassReport
}
