// Claims of flow-control rows, inside the writer's transaction.

import { FLOW_COLUMNS } from '../tables/flow-rows.ts'
import type { Row } from '../tables/operations.ts'
import type { Connection } from './connection.ts'
import { CLAIM_CHARS_MAX, charsOf } from './leases.ts'

const DUE = 'SELECT id FROM flow_rows WHERE available_at <= ? ORDER BY available_at, id LIMIT ?'
const LEASE = `UPDATE flow_rows SET lease_owner = ?, version = version + 1, available_at = ?
  WHERE id = ? RETURNING ${FLOW_COLUMNS.join(', ')}`

/** Leases the rows that are due and answers them, those that were due first in front. */
export function claimTimers(
  connection: Connection,
  [owner, now, leaseUntil, limit]: [string, number, number, number],
): Row[] {
  const lease = connection.prepare(LEASE)
  const claimed: Row[] = []
  let chars = 0
  for (const [id] of connection.prepare(DUE).all([now, limit]) as [string][]) {
    const [row] = lease.all([owner, leaseUntil, id]) as [Row]
    claimed.push(row)
    chars += charsOf([row])
    if (chars > CLAIM_CHARS_MAX) break
  }
  return claimed
}
