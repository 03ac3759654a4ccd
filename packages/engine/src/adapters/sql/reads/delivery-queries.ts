// Queries about webhook deliveries, and what their rows mean. Called by the reads.

import type { DeliveryQuery, EndpointStats } from '../../../ports/store.ts'
import { ATTEMPT_COLUMNS, SELECT_DELIVERY, SELECT_DELIVERY_ROW } from '../tables/deliveries.ts'
import type { Query, Row, Value } from '../tables/operations.ts'

/** Leads to the small index of what has not arrived (yet). */
const FINDS_UNSENT = `status <> 'succeeded'`

/** Answers the delivery's row, if it is one of the namespace, and the rows of its attempts, in order. */
export function deliveryQueries(namespace: string, id: string): Query[] {
  return [
    {
      sql: `SELECT ${SELECT_DELIVERY} FROM deliveries WHERE id = ? AND namespace = ?`,
      params: [id, namespace],
    },
    {
      sql: `SELECT ${ATTEMPT_COLUMNS.join(', ')} FROM delivery_attempts
        WHERE delivery_id = (SELECT id FROM deliveries WHERE id = ? AND namespace = ?) ORDER BY attempt`,
      params: [id, namespace],
    },
  ]
}

/** Answers rows of deliveries, newest first; payloads that lie beside their rows are left out. */
export function deliveriesQuery(namespace: string, { app, status, limit, after }: DeliveryQuery): Query {
  const terms = ['namespace = ?']
  const params: Value[] = [namespace]
  if (app !== undefined) {
    terms.push('app = ?')
    params.push(app)
  }
  if (status !== undefined) {
    if (status !== 'succeeded') terms.push(FINDS_UNSENT)
    terms.push('status = ?')
    params.push(status)
  }
  if (after) {
    terms.push('(created_at, id) < (?, ?)')
    params.push(after.createdAt, after.id)
  }
  const sql = `SELECT ${SELECT_DELIVERY_ROW} FROM deliveries WHERE ${terms.join(' AND ')}
    ORDER BY created_at DESC, id DESC LIMIT ?`
  return { sql, params: [...params, limit] }
}

/** Answers id and body of each payload that lies beside its row. */
export function payloadsQuery(ids: readonly string[]): Query {
  return {
    sql: `SELECT id, body FROM payloads WHERE id IN (${ids.map(() => '?').join(', ')})`,
    params: [...ids],
  }
}

/** Answers rows for `endpointStatsFromRow`. */
export function endpointStatsQuery(namespace: string, since: number): Query {
  return {
    sql: `SELECT endpoint_id, count(*), sum(CASE WHEN status = 'succeeded' THEN 1 ELSE 0 END),
        sum(CASE WHEN status IN ('exhausted', 'dead') THEN 1 ELSE 0 END), max(created_at)
      FROM deliveries WHERE namespace = ? AND endpoint_id IS NOT NULL AND created_at >= ? GROUP BY endpoint_id`,
    params: [namespace, since],
  }
}

export function endpointStatsFromRow(row: Row): EndpointStats {
  const [endpointId, delivered, succeeded, failed, lastDelivery] = row as [
    string,
    number,
    number,
    number,
    number,
  ]
  return { endpointId, delivered, succeeded, failed, lastDelivery }
}
