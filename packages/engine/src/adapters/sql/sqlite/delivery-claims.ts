// Claims of deliveries, inside the writer's transaction.

import type { DeliveryClaim } from '../../../ports/store.ts'
import { CLAIM_CHARS_MAX, charsOf } from '../claims/claim-bounds.ts'
import { dueDeliveries } from '../claims/due-deliveries.ts'
import type { Row } from '../description/values.ts'
import { DELIVERIES } from '../tables/deliveries.ts'
import type { Connection } from './connection.ts'
import { runWork } from './run-work.ts'

const STATUS = 'SELECT status FROM deliveries WHERE rowid = ?'
const LEASE = `UPDATE deliveries SET status = 'delivering', lease_owner = ?, fence = fence + 1, available_at = ?,
    next_attempt_at = NULL, updated_at = ?
  WHERE rowid = ? RETURNING ${DELIVERIES.select}`

/** Leases the deliveries that the claim may take. Returns their rows, the longest due first, each with its former status. */
export function claimDeliveries(connection: Connection, claim: DeliveryClaim): Row[] {
  const status = connection.prepare(STATUS)
  const lease = connection.prepare(LEASE)
  const claimed: Row[] = []
  let chars = 0
  for (const rowid of runWork(connection, dueDeliveries('rowid', claim))) {
    const [before] = status.all([rowid]) as [Row]
    const [row] = lease.all([claim.owner, claim.leaseUntil, claim.now, rowid]) as [Row]
    claimed.push([...row, ...before])
    chars += charsOf([row])
    if (chars > CLAIM_CHARS_MAX) break
  }
  return claimed
}
