// A unit that can be written once only, for tests that cut a writer off: a second copy of it would be refused.

import type { Unit } from '../../../packages/engine/src/domain/model/change.ts'
import type { Store } from '../../../packages/engine/src/ports/store.ts'

/** Holds only once: written a second time it would be refused. */
export function claimOf(dedupeId: string): Unit {
  const of = { namespace: 'n', app: 'a', dedupeId }
  const now = Date.now()
  return {
    guards: [{ type: 'dedupe', ...of, now }],
    changes: [{ type: 'dedupe.claimed', ...of, expiresAt: now + 60_000 }],
  }
}

/** Whether the unit was written. */
export function isClaimed(store: Store, dedupeId: string): Promise<boolean> {
  return store.isDeduped({ namespace: 'n', app: 'a', dedupeId, now: Date.now() })
}
