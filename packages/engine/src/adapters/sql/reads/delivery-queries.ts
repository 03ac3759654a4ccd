// Queries about webhook deliveries and receivers, and what their rows mean. Called by the store and its reads.

import { DELIVERY_STATUSES } from '@perdure/protocol'
import {
  DELIVERIES_COUNTED_MAX,
  type DeliveryCounts,
  type DeliveryFilter,
  type DeliveryQuery,
  type EndpointStats,
} from '../../../ports/store-reads.ts'
import { conditions } from '../description/conditions.ts'
import type { Query, Row } from '../description/values.ts'
import { ATTEMPTS, DELIVERIES } from '../tables/deliveries.ts'
import { SAME_NAMESPACE } from './runs/run-filter.ts'

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

/** Rows of deliveries, newest first, without payloads that are stored outside their rows. */
export function deliveriesQuery(namespace: string, { limit, after, ...filter }: DeliveryQuery): Query {
  const { status } = filter
  const { terms, params } = conditions({
    'namespace = ?': namespace,
    'app = ?': filter.app,
    'endpoint_id = ?': filter.endpointId,
    'source_run_id = ?': filter.sourceRunId,
    'event_kind = ?': filter.eventKind,
    'created_at >= ?': filter.since,
    'created_at < ?': filter.until,
    [FINDS_UNSENT]: status === undefined || status === 'succeeded' ? undefined : [],
    'status = ?': status,
    '(created_at, id) < (?, ?)': after && [after.createdAt, after.id],
  })
  const sql = `SELECT ${DELIVERIES.selectWithout()} FROM deliveries WHERE ${terms}
    ORDER BY created_at DESC, id DESC LIMIT ?`
  return { sql, params: [...params, limit] }
}

/**
 * Queries for `deliveryCounts`, each over the newest deliveries along one index. The indexes of an endpoint and of a run cover
 * every status. Without either filter, each status has its own query, since few deliveries among many may be exhausted.
 */
export function deliveryCountsQueries(namespace: string, { status: _, ...filter }: DeliveryFilter): Query[] {
  if (filter.endpointId !== undefined || filter.sourceRunId !== undefined) return [newestQuery(namespace, filter)]
  return DELIVERY_STATUSES.map(status => newestQuery(namespace, filter, status))
}

/** Rows with the status, the number of deliveries looked at, and how many of them match the filter. */
function newestQuery(namespace: string, filter: DeliveryFilter, status?: DeliveryCounts[number]['status']): Query {
  const { sourceRunId, endpointId, since, until, app, eventKind } = filter
  const isUnsent = status !== undefined && status !== 'succeeded'
  const walked = conditions({
    [sourceRunId === undefined ? 'namespace = ?' : SAME_NAMESPACE]: namespace,
    'source_run_id = ?': sourceRunId,
    [sourceRunId === undefined ? 'endpoint_id = ?' : "endpoint_id || '' = ?"]: endpointId,
    [`${FINDS_UNSENT} AND status = ?`]: isUnsent ? status : undefined,
    'created_at >= ?': since,
    'created_at < ?': until,
  })
  const matching = conditions({
    '1 = 1': [],
    'app = ?': app,
    'event_kind = ?': eventKind,
    'status = ?': isUnsent ? undefined : status,
  })
  return {
    sql: `SELECT status, count(*), sum(CASE WHEN ${matching.terms} THEN 1 ELSE 0 END)
      FROM (SELECT status, app, event_kind FROM deliveries WHERE ${walked.terms}
        ORDER BY created_at DESC LIMIT ?) AS newest
      GROUP BY status`,
    params: [...matching.params, ...walked.params, DELIVERIES_COUNTED_MAX + 1],
  }
}

/** The counts of every status, from the rows of the queries. */
export function deliveryCounts(found: readonly Row[][]): DeliveryCounts {
  const counts = new Map<string, { count: number; isPart: boolean }>()
  const isAlone = found.length === 1
  found.forEach((rows, i) => {
    const looked = rows.reduce((sum, row) => sum + (row[1] as number), 0)
    const isPart = looked > DELIVERIES_COUNTED_MAX
    for (const status of isAlone ? DELIVERY_STATUSES : [DELIVERY_STATUSES[i] as string]) {
      const count = (rows.find(row => row[0] === status)?.[2] ?? 0) as number
      counts.set(status, { count: Math.min(count, DELIVERIES_COUNTED_MAX), isPart })
    }
  })
  return DELIVERY_STATUSES.map(status => ({ status, ...(counts.get(status) ?? { count: 0, isPart: false }) }))
}

/** Id and body of each payload that is stored outside its row. */
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

/** Rows of a receiver's id and the time of its last accepted post. */
export function lastAcceptedQuery(namespace: string, ids: readonly string[]): Query {
  const holes = ids.map(() => '?').join(', ')
  return {
    sql: `SELECT id, last_accepted_at FROM webhook_receivers
      WHERE id IN (${holes}) AND namespace = ? AND last_accepted_at IS NOT NULL`,
    params: [...ids, namespace],
  }
}
