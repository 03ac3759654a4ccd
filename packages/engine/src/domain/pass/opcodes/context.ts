// The context of a decision about a pass or a checkpoint, without the run and the runner's report.

import type { FilterFault } from '../../expressions/matching.ts'
import type { CatalogView } from '../../model/catalog.ts'
import type { PassSent } from '../../model/step.ts'
import type { Assumptions } from '../../run/assumptions.ts'
import type { JsonText } from '../../text/json-text.ts'

/** The runner's knowledge of the run: from the memo of the pass, then from the ack of each checkpoint. */
export interface RunnerKnowledge {
  /** Time of the last message to the runner. Steps that it reports next started after this time. */
  asOf: number
  /** Number of settled steps that the runner knows. */
  settled: number
  /** The runner knows every settled step up to this seq. */
  seq: number
  /** Whether an ack contained settled steps. Then a pass that ends without a new step is no error of the runner. */
  wasSentSettled: boolean
  /** Whether an ack requested the runner to end the pass, although there may be more to do. */
  stopRequested: boolean
}

/** The pass that is under way. */
export interface SentPass {
  /** When the pass was sent. Retries that were due at this time were left to the runner. */
  sentAt: number
  /** The attempt of the run when the pass was sent. */
  sentAttempt: number
  knowledge: RunnerKnowledge
}

/** Unreadable log lines of a runner. */
export interface LinesFault {
  of: { app: string; workflow: string }
  /** Number of unread lines. */
  unread: number
  /** The error of the first line. */
  error: string
}

/** A long chain of runs that start each other, which may be endless. */
export interface ChainFault {
  of: { app: string; workflow: string }
  runId: string
  generation: number
}

/** Receives expressions that could not be evaluated, unreadable log lines, and chains that may be endless. */
export type PassReport = (fault: FilterFault | LinesFault | ChainFault) => void

export interface PassContext extends SentPass {
  now: number
  /** The newest progress of earlier reports that is not stored yet. */
  pendingProgress?: JsonText | undefined
  /** The part of the pass that its steps store. */
  sent?: PassSent | undefined
  random(): number
  catalog: CatalogView
  assumptions: Assumptions
  report: PassReport
}
