// Claims of flow-control rows and deliveries, and extensions of the leases of runs, inside the writer's transaction.

import type { Claim, DeliveryClaim } from '../../../ports/store.ts'
import { CLAIM_CHARS_MAX, charsOf } from '../claims/claim-bounds.ts'
import { dueDeliveries } from '../claims/due-deliveries.ts'
import type { Row } from '../description/values.ts'
import { DELIVERIES } from '../tables/deliveries.ts'
import { FLOW_ROWS } from '../tables/flow-rows.ts'
import type { Connection } from './connection.ts'
import { runWork } from './run-work.ts'

const DUE_TIMERS = 'SELECT id FROM flow_rows WHERE available_at <= ? ORDER BY available_at, id LIMIT ?'
const LEASE_TIMER = `UPDATE flow_rows SET lease_owner = ?, version = version + 1, available_at = ?
  WHERE id = ? RETURNING ${FLOW_ROWS.select}`
const STATUS = 'SELECT status FROM deliveries WHERE rowid = ?'
const LEASE_DELIVERY = `UPDATE deliveries SET status = 'delivering', lease_owner = ?, fence = fence + 1, available_at = ?,
    next_attempt_at = NULL, updated_at = ?
  WHERE rowid = ? RETURNING ${DELIVERIES.select}`

/** Leases due rows and returns them, the longest due first. */
export function claimTimers(connection: Connection, { owner, now, leaseUntil, limit }: Claim): Row[] {
  const lease = connection.prepare(LEASE_TIMER)
  const due = connection.prepare(DUE_TIMERS).all([now, limit])
  return upToChars(due, ([id]) => lease.all([owner, leaseUntil, id as string])[0] as Row)
}

/** Leases the deliveries that the claim may take. Returns their rows, the longest due first, each with its former status. */
export function claimDeliveries(connection: Connection, claim: DeliveryClaim): Row[] {
  const status = connection.prepare(STATUS)
  const lease = connection.prepare(LEASE_DELIVERY)
  return upToChars(runWork(connection, dueDeliveries('rowid', claim)), rowid => {
    const [before] = status.all([rowid]) as [Row]
    const [row] = lease.all([claim.owner, claim.leaseUntil, claim.now, rowid]) as [Row]
    return [...row, ...before]
  })
}

/** Leases the due rows one by one until the leased ones are large. */
function upToChars<Due>(due: Iterable<Due>, lease: (due: Due) => Row): Row[] {
  const claimed: Row[] = []
  let chars = 0
  for (const one of due) {
    const row = lease(one)
    claimed.push(row)
    chars += charsOf([row])
    if (chars > CLAIM_CHARS_MAX) break
  }
  return claimed
}

/** Returns the ids of the runs whose lease the owner has lost, or that are to be claimed and cancelled. */
export function extendRuns(
  connection: Connection,
  { owner, until, runIds }: { owner: string; until: number; runIds: readonly string[] },
): string[] {
  const extend = connection.prepare(
    'UPDATE runs SET available_at = ? WHERE id = ? AND lease_owner = ? AND cancel_requested IS NULL',
  )
  return runIds.filter(runId => extend.run([until, runId, owner]) === 0)
}
