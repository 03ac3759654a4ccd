// Queries about webhook deliveries, and what their rows mean. Called by the reads.

import type { DeliveryQuery, EndpointStats } from '../../../ports/store-reads.ts'
import type { Query, Row, Value } from '../description/values.ts'
import { ATTEMPTS, DELIVERIES } from '../tables/deliveries.ts'

/** Makes the planner take the small index of deliveries that have not succeeded. */
const FINDS_UNSENT = `status <> 'succeeded'`

/** The delivery's row, if the namespace has it, and the rows of its attempts, in order. */
export function deliveryQueries(namespace: string, id: string): Query[] {
  return [
    {
      sql: `SELECT ${DELIVERIES.select} FROM deliveries WHERE id = ? AND namespace = ?`,
      params: [id, namespace],
    },
    {
      sql: `SELECT ${ATTEMPTS.select} FROM delivery_attempts
        WHERE delivery_id = (SELECT id FROM deliveries WHERE id = ? AND namespace = ?) ORDER BY attempt`,
      params: [id, namespace],
    },
  ]
}

/** Rows of deliveries, newest first, without payloads that are stored beside their rows. */
export function deliveriesQuery(namespace: string, { limit, after, ...filter }: DeliveryQuery): Query {
  const terms = ['namespace = ?']
  const params: Value[] = [namespace]
  const add = (term: string, value: Value | undefined) => {
    if (value === undefined) return
    terms.push(term)
    params.push(value)
  }
  add('app = ?', filter.app)
  add('endpoint_id = ?', filter.endpointId)
  add('source_run_id = ?', filter.sourceRunId)
  add('event_kind = ?', filter.eventKind)
  add('created_at >= ?', filter.since)
  add('created_at < ?', filter.until)
  const { status } = filter
  if (status !== undefined && status !== 'succeeded') terms.push(FINDS_UNSENT)
  add('status = ?', status)
  if (after) {
    terms.push('(created_at, id) < (?, ?)')
    params.push(after.createdAt, after.id)
  }
  const sql = `SELECT ${DELIVERIES.selectWithout()} FROM deliveries WHERE ${terms.join(' AND ')}
    ORDER BY created_at DESC, id DESC LIMIT ?`
  return { sql, params: [...params, limit] }
}

/** Id and body of each payload that is stored beside its row. */
export function payloadsQuery(ids: readonly string[]): Query {
  return {
    sql: `SELECT id, body FROM payloads WHERE id IN (${ids.map(() => '?').join(', ')})`,
    params: [...ids],
  }
}

/** Rows for `endpointStatsFromRow`. */
export function endpointStatsQuery(namespace: string, since: number): Query {
  return {
    sql: `SELECT endpoint_id, count(*), sum(CASE WHEN status = 'succeeded' THEN 1 ELSE 0 END),
        sum(CASE WHEN status IN ('exhausted', 'dead') THEN 1 ELSE 0 END), max(created_at)
      FROM deliveries WHERE namespace = ? AND endpoint_id IS NOT NULL AND created_at >= ?
        AND event_kind <> 'test' GROUP BY endpoint_id`,
    params: [namespace, since],
  }
}

export function endpointStatsFromRow(row: Row): EndpointStats {
  const [endpointId, delivered, succeeded, failed, lastDelivery] = row as [string, number, number, number, number]
  return { endpointId, delivered, succeeded, failed, lastDelivery }
}
