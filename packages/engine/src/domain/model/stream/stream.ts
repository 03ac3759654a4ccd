// An output stream of a run: chunks that its steps write while they run, stored outside the run's own rows
// (docs/decisions/0063-append-data.md).

import type { JsonText } from '../../text/json-text.ts'

/** Chunks that a step wrote in one execution, while the step has not settled. They may still be withdrawn. */
export interface OpenPart {
  /** Hashed id of the step. */
  id: string
  /** Name of the step. */
  step: string
  attempt: number
  /** Number of the pass that executes the step. */
  pass: number
  /** Number of its first chunk. */
  first: number
  chunks: number
  bytes: number
}

/** A stream without its rows. `chunks` and `bytes` leave out withdrawn chunks; bytes are those of the JSON texts. */
export interface StreamHead {
  runId: string
  name: string
  /** Number of the next message, from 0. */
  next: number
  chunks: number
  bytes: number
  /** The same including withdrawn chunks. */
  allChunks: number
  allBytes: number
  firstAt: number
  lastAt: number
  /** In the order of their first chunks. */
  open: readonly OpenPart[]
  /** Retention has dropped the rows. */
  dropped?: boolean
}

/** Why chunks were withdrawn: their attempt failed, or was lost with its runner or engine. */
export type RollbackReason = 'failed' | 'lost'

/** Consecutive messages of one step: chunks, or one rollback. */
export interface StreamRow {
  runId: string
  name: string
  /** Number of the first message. */
  n: number
  count: number
  step: string
  attempt: number
  at: number
  /** The chunks as JSON texts, separated by commas. Absent in a rollback. */
  chunks?: JsonText
  /** Chunks of the step from this number on do not count. */
  rollback?: number
  reason?: RollbackReason
}
