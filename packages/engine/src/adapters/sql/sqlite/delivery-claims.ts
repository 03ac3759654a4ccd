// Claims of deliveries, inside the writer's transaction. What is due may lie behind any number of rows whose
// destinations are full: those must neither be taken nor cost the writer its time.

import type { DeliveryClaim } from '../../../ports/store.ts'
import { DeliveryShare } from '../delivery-share.ts'
import type { Row } from '../operations.ts'
import { SELECT_DELIVERY } from '../rows/delivery-row.ts'
import type { Connection } from './connection.ts'
import { CLAIM_CHARS_MAX, charsOf } from './leases.ts'

/** So many of the oldest due rows are looked at one by one; the index tells all that is asked. */
const OLDEST_MAX = 256

const OLDEST = `SELECT rowid, destination FROM deliveries WHERE available_at <= ?
  ORDER BY available_at, destination, rowid LIMIT ${OLDEST_MAX}`

/** Every destination with something due, the longest waiting first: a jump through the index for each. */
const WAITING = `WITH RECURSIVE destinations (name) AS (
    SELECT min(destination) FROM deliveries WHERE available_at IS NOT NULL
    UNION ALL
    SELECT (SELECT min(destination) FROM deliveries WHERE available_at IS NOT NULL AND destination > name)
    FROM destinations WHERE name IS NOT NULL)
  SELECT name FROM (
    SELECT name, (SELECT min(available_at) FROM deliveries
      WHERE available_at IS NOT NULL AND destination = name) AS first_at
    FROM destinations WHERE name IS NOT NULL) AS waiting
  WHERE first_at <= ? ORDER BY first_at`

const OF_DESTINATION = `SELECT rowid FROM deliveries WHERE destination = ? AND available_at <= ?
  ORDER BY available_at, rowid LIMIT ?`

const LEASE = `UPDATE deliveries SET status = 'delivering', lease_owner = ?, fence = fence + 1, available_at = ?,
    next_attempt_at = NULL, updated_at = ?
  WHERE rowid = ? RETURNING ${SELECT_DELIVERY}`

/** Leases what the claim may take and answers the rows, those that were due first in front. */
export function claimDeliveries(connection: Connection, claim: DeliveryClaim): Row[] {
  const lease = connection.prepare(LEASE)
  const claimed: Row[] = []
  let chars = 0
  for (const rowid of pick(connection, claim)) {
    const [row] = lease.all([claim.owner, claim.leaseUntil, claim.now, rowid]) as [Row]
    claimed.push(row)
    chars += charsOf([row])
    if (chars > CLAIM_CHARS_MAX) break
  }
  return claimed
}

function pick(connection: Connection, claim: DeliveryClaim): Iterable<number> {
  const share = new DeliveryShare(claim)
  const picked = new Set<number>()
  const oldest = connection.prepare(OLDEST).all([claim.now]) as [number, string][]
  for (const [rowid, destination] of oldest) {
    if (share.take(destination)) picked.add(rowid)
  }
  if (oldest.length === OLDEST_MAX && !share.isUsedUp) pickBehind(connection, claim, { share, picked })
  return picked
}

/** The oldest rows are mostly held back: asks each destination for its own oldest instead. */
function pickBehind(
  connection: Connection,
  { now, limit }: DeliveryClaim,
  { share, picked }: { share: DeliveryShare; picked: Set<number> },
): void {
  const ofDestination = connection.prepare(OF_DESTINATION)
  for (const [name] of connection.prepare(WAITING).all([now]) as [string][]) {
    if (!share.hasRoom(name)) continue
    for (const [rowid] of ofDestination.all([name, now, limit]) as [number][]) {
      if (!picked.has(rowid) && share.take(name)) picked.add(rowid)
    }
    if (share.isUsedUp) return
  }
}
