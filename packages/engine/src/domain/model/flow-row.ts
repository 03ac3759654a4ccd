// The durable state of flow control: one row per workflow, policy and key. What it holds is the policy's own; a version
// guards it, so that two events at once cannot both be the first (architecture, "Optimistic versions").

import { createHash } from 'node:crypto'
import type { JsonText } from '../text/json-text.ts'

/** Policies that keep a row: a claimed idempotency key, a buffer that is being filled, a schedule. */
export type FlowPolicy = 'idempotency' | 'debounce' | 'batch' | 'cron'

export interface FlowRow {
  id: string
  namespace: string
  app: string
  workflow: string
  policy: FlowPolicy
  /** The key's value; '' for a policy without a key. */
  key: string
  /** Rises with every change and every lease; 0 is that of a row that does not exist. */
  version: number
  /** When the timers lane takes it up: schedule, lease and crash recovery at once. Absent: never. */
  availableAt?: number
  leaseOwner?: string
  /** When it means nothing any more. */
  expiresAt?: number
  state: JsonText
}

/** The id of the row: the same parts give the same id. */
export function flowRowId(row: Pick<FlowRow, 'namespace' | 'app' | 'workflow' | 'policy' | 'key'>): string {
  const { namespace, app, workflow, policy, key } = row
  return createHash('sha256')
    .update(JSON.stringify([namespace, app, workflow, policy, key]))
    .digest('base64url')
}

/**
 * A new row begins at a version of its own: a decision that rests on a row which is gone by now cannot take its
 * successor for it. `seed` tells its beginning apart from any other of the same row.
 */
export function firstVersion(seed: string): number {
  return 1 + createHash('sha256').update(seed).digest().readUIntBE(0, 5)
}
