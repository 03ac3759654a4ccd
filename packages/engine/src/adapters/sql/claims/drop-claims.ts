// Removes the idempotency keys that events claimed for a deleted workflow, inside the writer's transaction and a few at a time.
// services/registry/deletion calls it until none is left.

import { earliestId } from '../../../domain/text/ids.ts'
import type { ClaimsOfWorkflow } from '../../../ports/store.ts'
import { query, type Work } from './transaction-work.ts'

/** The state of a claim is the id of its event, which begins with the time (domain/arrival/idempotency.ts). */
const CLAIMS = `DELETE FROM flow_rows WHERE id IN (
    SELECT id FROM flow_rows WHERE namespace = ? AND app = ? AND workflow = ? AND policy = 'idempotency' AND state < ? LIMIT ?i)
  RETURNING id`

/** Returns how many keys were removed: fewer than the limit when none is left. */
export function* dropClaims({ namespace, app, workflow, before, limit }: ClaimsOfWorkflow): Work<number> {
  const state = `{"eventId":"${earliestId('evt', before)}`
  return (yield* query(CLAIMS, [namespace, app, workflow, state, limit])).length
}
