// Types of a checkpoint, which makes a finished step durable so that its pass can continue. A Connect runner has
// checkpoints, an HTTP runner has none. See docs/wire-protocol.md#checkpoints.

import type { CheckpointedStep } from '@perdure/protocol'

/** The lists of an `invoke.checkpoint` frame, each as JSON text. */
export interface CheckpointReport {
  readonly opcodes: string
  readonly logs: string
}

/** The payload of `checkpoint.ack`: the reported steps are durable. */
export interface CheckpointReceipt {
  /** In the order in which a replay will settle them. */
  readonly steps: readonly CheckpointedStep[]
  /** Settle no further step call: let the running callbacks finish, and end the pass with their opcodes. */
  readonly stop?: boolean
}

/**
 * Resolves when the report is durable. Rejects when it will never be; the pass is then cancelled. The runner ensures that
 * one of both happens within a bounded time. Several reports may be under way: they become durable in the order of the
 * calls.
 */
export type Checkpointer = (report: CheckpointReport) => Promise<CheckpointReceipt>
