// What lets a pass go on past a finished step: a way to make the step durable first (decisions "Connect",
// `invoke.checkpoint`). The Connect runner brings it; over HTTP there is none.

import type { CheckpointedStep } from '@perdure/protocol'

/** What is reported: JSON texts of the lists in an `invoke.checkpoint`. */
export interface CheckpointReport {
  readonly opcodes: string
  readonly logs: string
}

/** What is known once it is durable (the payload of `checkpoint.ack`). */
export interface CheckpointReceipt {
  /** In the order in which replay will hand them over. */
  readonly steps: readonly CheckpointedStep[]
  /** Hand nothing more to the handler: let the callbacks that run finish, and end the pass with their opcodes. */
  readonly stop?: boolean
}

/**
 * Resolves when the report is durable; rejects when it never will be, within a time the runner sees to: the pass is
 * cancelled then. Several may be under way; they are made durable in the order of the calls.
 */
export type Checkpointer = (report: CheckpointReport) => Promise<CheckpointReceipt>
