// Claims of flow-control rows, inside the writer's transaction.

import type { Claim } from '../../../ports/store.ts'
import { CLAIM_CHARS_MAX, charsOf } from '../claims/claim-bounds.ts'
import type { Row } from '../description/values.ts'
import { FLOW_ROWS } from '../tables/flow-rows.ts'
import type { Connection } from './connection.ts'

const DUE = 'SELECT id FROM flow_rows WHERE available_at <= ? ORDER BY available_at, id LIMIT ?'
const LEASE = `UPDATE flow_rows SET lease_owner = ?, version = version + 1, available_at = ?
  WHERE id = ? RETURNING ${FLOW_ROWS.select}`

/** Leases due rows and returns them, the longest due first. */
export function claimTimers(connection: Connection, { owner, now, leaseUntil, limit }: Claim): Row[] {
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
