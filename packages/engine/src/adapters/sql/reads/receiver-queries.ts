// The query for what receivers accepted. Called by the store.

import type { Query } from '../description/values.ts'

/** Rows of a receiver's id and the time of its last accepted post. */
export function lastAcceptedQuery(namespace: string, ids: readonly string[]): Query {
  const holes = ids.map(() => '?').join(', ')
  return {
    sql: `SELECT id, last_accepted_at FROM webhook_receivers
      WHERE id IN (${holes}) AND namespace = ? AND last_accepted_at IS NOT NULL`,
    params: [...ids, namespace],
  }
}
