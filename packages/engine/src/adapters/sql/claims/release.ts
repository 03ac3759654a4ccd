// Giving back the leases of others, inside the writer's transaction: right only where one process owns the store.

import { OP_SQL } from '../write/statements.ts'
import { LANE_TABLES } from './lanes.ts'
import { type Asking, ask } from './transaction-work.ts'

/** The fence goes up, so that whoever still believes to hold a lease can change nothing. */
export function* releaseOthers(owner: string, now: number): Asking<void> {
  yield* freeSlots(owner, now)
  for (const { table, fence, parts } of Object.values(LANE_TABLES)) {
    const held = table === 'runs' ? ', leased_without_slots = NULL' : ''
    for (const part of parts) {
      yield* ask(
        `UPDATE ${table} SET available_at = ?i, lease_owner = NULL, ${fence} = ${fence} + 1 ${held}
         WHERE ${part} AND lease_owner <> ?`,
        [now, owner],
      )
    }
  }
}

/** Whoever stands in line for a slot that a lease of others held has its turn. */
function* freeSlots(owner: string, now: number): Asking<void> {
  for (const slot of ['slot1', 'slot2', 'slot3']) {
    const ids = yield* ask(
      `SELECT ${slot} FROM runs
       WHERE ${slot} IS NOT NULL AND lease_owner IS NOT NULL AND leased_without_slots IS NULL AND lease_owner <> ?`,
      [owner],
    )
    for (const [id] of ids as [string][]) yield* ask(OP_SQL['slot.free'], [now, id])
  }
}
