// Takes away the leases of all other owners, inside the writer's transaction. Only correct if one process owns the store.

import { HOLDS_SLOT, SLOT_COLUMNS } from '../tables/runs.ts'
import { OPERATIONS } from '../write/statements.ts'
import { LANE_TABLES } from './lanes.ts'
import { query, type Work } from './transaction-work.ts'

/** The fence rises, so that an owner who still believes in its lease can change nothing. */
export function* releaseOthers(owner: string, now: number): Work<void> {
  yield* freeSlots(owner, now)
  for (const { table, fence, leased } of Object.values(LANE_TABLES)) {
    const slots = table === 'runs' ? ', leased_without_slots = NULL' : ''
    yield* query(
      `UPDATE ${table} SET available_at = ?i, lease_owner = NULL, ${fence} = ${fence} + 1 ${slots}
       WHERE ${leased} AND lease_owner <> ?`,
      [now, owner],
    )
  }
}

/** Wakes the first run in the queue of each slot that a lease of others held. */
function* freeSlots(owner: string, now: number): Work<void> {
  for (const slot of SLOT_COLUMNS) {
    const held = `SELECT ${slot} FROM runs WHERE ${HOLDS_SLOT[slot]} AND lease_owner <> ?`
    for (const [id] of (yield* query(held, [owner])) as [string][])
      yield* query(OPERATIONS['slot.free'], [now, now, id, id])
  }
}
