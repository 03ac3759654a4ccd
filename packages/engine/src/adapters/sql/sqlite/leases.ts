// Extends leases inside the writer's transaction.

import type { Connection } from './connection.ts'

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
