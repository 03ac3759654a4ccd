// Extending leases inside the writer's transaction, and what claims have in common.

import type { Row } from '../tables/operations.ts'
import type { Connection } from './connection.ts'

/** A claim stops early once it has loaded this much, so that a few huge runs cannot fill the memory. */
export const CLAIM_CHARS_MAX = 32 * 1024 * 1024

/** The ids of the runs whose lease is no longer the owner's, or that are to be claimed and cancelled. */
export function extendRuns(
  connection: Connection,
  [owner, until, ...runIds]: [string, number, ...string[]],
): string[] {
  const extend = connection.prepare(
    'UPDATE runs SET available_at = ? WHERE id = ? AND lease_owner = ? AND cancel_requested IS NULL',
  )
  return runIds.filter(runId => extend.run([until, runId, owner]) === 0)
}

/** The characters of the rows' texts. */
export function charsOf(rows: readonly Row[]): number {
  let chars = 0
  for (const row of rows) for (const value of row) if (typeof value === 'string') chars += value.length
  return chars
}
