// The durable state of flow control: one row per workflow, policy and key. Its `state` depends on the policy. An event that
// arrives later, a bulk action, and the early callbacks of a run are also such rows, without a workflow. The version of a row
// guards it, so that of two concurrent events only one can be the first (ARCHITECTURE.md#how-races-are-settled).

import { createHash } from 'node:crypto'
import type { JsonText } from '../text/json-text.ts'

/**
 * Policies with a row: a claimed idempotency key, an open buffer, the cron of a workflow, an event that arrives later, the
 * event of an ended run, a schedule of the API, a bulk action or its input, the callbacks that a run got before it waited for
 * them, and the turns at a limit that steps share, for one key: this row is due when the next turn is free.
 */
export type FlowPolicy =
  | 'idempotency'
  | 'debounce'
  | 'batch'
  | 'cron'
  | 'event'
  | 'ended'
  | 'schedule'
  | 'bulk'
  | 'bulkInput'
  | 'callbacks'
  | 'limit'

export interface FlowRow {
  id: string
  namespace: string
  app: string
  workflow: string
  policy: FlowPolicy
  /** The key's value; '' for a policy without a key, and for a claimed idempotency key, which is only in the id. */
  key: string
  /** Rises with every change and every lease; 0 stands for a row that does not exist. */
  version: number
  /** When the timers lane may claim the row: schedule, lease and crash recovery at once. Absent: never. */
  availableAt?: number
  leaseOwner?: string
  /** When it is due, for lists: the requested time, or the end of a buffer. `availableAt` moves with a lease. */
  dueAt?: number
  /** After this time the row has no effect. */
  expiresAt?: number
  state: JsonText
}

/** The turns at a limit that steps share, for one key. The pool and its row have the same id. */
export interface TurnPool {
  id: string
  namespace: string
  app: string
  /** Name of the limit. */
  limit: string
  /** '' without a key. */
  key: string
}

/** The id of the row, or of the limiter's counter of a rate limit: the same parts give the same id. */
export function flowRowId(
  row: Pick<FlowRow, 'namespace' | 'app' | 'workflow' | 'key'> & { policy: FlowPolicy | 'rateLimit' },
): string {
  const { namespace, app, workflow, policy, key } = row
  return createHash('sha256')
    .update(JSON.stringify([namespace, app, workflow, policy, key]))
    .digest('base64url')
}

/**
 * The first version of a new row, derived from `seed`. A decision that relies on a deleted row cannot mistake its successor for
 * it, since the successor's seed differs.
 */
export function firstVersion(seed: string): number {
  return 1 + createHash('sha256').update(seed).digest().readUIntBE(0, 5)
}

/** The row without its lease; it can be claimed from `availableAt` on. */
export function released({ leaseOwner: _, ...row }: FlowRow, availableAt: number): FlowRow {
  return { ...row, version: row.version + 1, availableAt }
}
