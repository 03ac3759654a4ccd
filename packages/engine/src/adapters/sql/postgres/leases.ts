// Extends leases inside the writer's transaction.

import type { Queryable } from './client.ts'

/** Returns the ids of the runs whose lease the owner has lost, or that are to be claimed and cancelled. */
export async function extendRuns(
  client: Queryable,
  { owner, until, runIds }: { owner: string; until: number; runIds: readonly string[] },
): Promise<string[]> {
  const { rows } = await client.query<{ id: string }>(
    `UPDATE runs SET available_at = $1 WHERE id = ANY ($2) AND lease_owner = $3 AND cancel_requested IS NULL
     RETURNING id`,
    [until, runIds, owner],
  )
  const extended = new Set(rows.map(({ id }) => id))
  return runIds.filter(runId => !extended.has(runId))
}
