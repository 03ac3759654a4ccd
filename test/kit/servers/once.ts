// A unit that can be written only once, for tests that cut off a writer. The store would refuse a second copy.

import type { Unit } from '../../../packages/engine/src/domain/model/change.ts'
import type { Store } from '../../../packages/engine/src/ports/store.ts'

/** The unit's guard holds only once, so a second write of the unit is refused. */
export function claimOf(dedupeId: string): Unit {
  const of = { namespace: 'n', app: 'a', dedupeId }
  const now = Date.now()
  return {
    guards: [{ type: 'dedupe', ...of, now }],
    changes: [{ type: 'dedupe.claimed', ...of, expiresAt: now + 60_000 }],
  }
}

/** Whether the unit was written. */
export async function isClaimed(store: Store, dedupeId: string): Promise<boolean> {
  return (await store.dedupeClaim({ namespace: 'n', app: 'a', dedupeId, now: Date.now() })) !== undefined
}
