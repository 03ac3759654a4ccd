// The rows of a webhook delivery and of its attempts, and the way there and back.

import { type Delivery, type DeliveryAttempt, destinationOf } from '../../../domain/model/delivery.ts'
import type { ClaimedDelivery } from '../../../ports/store.ts'
import type { Columns } from './columns.ts'
import type { Row } from './operations.ts'
import { inlinePayload, selectWithPayload } from './payloads.ts'

type DeliveryFixed = [
  id: string,
  namespace: string,
  app: string,
  endpointId: string | null,
  eventKind: Delivery['eventKind'],
  sourceRunId: string | null,
  createdAt: number,
  destination: string,
  trace: string | null,
  payload: string | null,
]

type DeliveryMoving = [
  url: string,
  status: Delivery['status'],
  fence: number,
  availableAt: number | null,
  leaseOwner: string | null,
  attemptCount: number,
  maxAttempts: number,
  lastStatusCode: number | null,
  nextAttemptAt: number | null,
  updatedAt: number,
]

const DELIVERY_FIXED: Columns<DeliveryFixed> = [
  'id',
  'namespace',
  'app',
  'endpoint_id',
  'event_kind',
  'source_run_id',
  'created_at',
  'destination',
  'trace',
  'payload',
]

/** The columns of `deliveryMoves`. */
export const DELIVERY_MOVING: Columns<DeliveryMoving> = [
  'url',
  'status',
  'fence',
  'available_at',
  'lease_owner',
  'attempt_count',
  'max_attempts',
  'last_status_code',
  'next_attempt_at',
  'updated_at',
]

export const DELIVERY_COLUMNS: readonly string[] = [...DELIVERY_FIXED, ...DELIVERY_MOVING]
/** Without the payloads that lie beside their rows. */
export const SELECT_DELIVERY_ROW = DELIVERY_COLUMNS.join(', ')
export const SELECT_DELIVERY = selectWithPayload('deliveries', DELIVERY_COLUMNS, 'payload')

export function deliveryRow(delivery: Delivery): [...DeliveryFixed, ...DeliveryMoving] {
  return [
    delivery.id,
    delivery.namespace,
    delivery.app,
    delivery.endpointId ?? null,
    delivery.eventKind,
    delivery.sourceRunId ?? null,
    delivery.createdAt,
    destinationOf(delivery),
    delivery.trace ?? null,
    inlinePayload(delivery.payload),
    ...deliveryMoves(delivery),
  ]
}

export function deliveryMoves(delivery: Delivery): DeliveryMoving {
  return [
    delivery.url,
    delivery.status,
    delivery.fence,
    delivery.availableAt ?? null,
    delivery.leaseOwner ?? null,
    delivery.attemptCount,
    delivery.maxAttempts,
    delivery.lastStatusCode ?? null,
    delivery.nextAttemptAt ?? null,
    delivery.updatedAt,
  ]
}

/** Reads a row of `SELECT_DELIVERY`. */
export function deliveryFromRow(row: Row): Delivery {
  const [id, namespace, app, endpointId, eventKind, sourceRunId, createdAt, , trace, payload] =
    row as DeliveryFixed
  const [url, status, fence, availableAt, leaseOwner, ...counts] = row.slice(
    DELIVERY_FIXED.length,
  ) as DeliveryMoving
  const [attemptCount, maxAttempts, statusCode, nextAt, updatedAt] = counts
  return {
    namespace,
    id,
    app,
    endpointId: endpointId ?? undefined,
    url,
    eventKind,
    sourceRunId: sourceRunId ?? undefined,
    trace: trace ?? undefined,
    payload: payload ?? undefined,
    status,
    attemptCount,
    maxAttempts,
    lastStatusCode: statusCode ?? undefined,
    nextAttemptAt: nextAt ?? undefined,
    createdAt,
    updatedAt,
    fence,
    availableAt: availableAt ?? undefined,
    leaseOwner: leaseOwner ?? undefined,
  }
}

/** Reads a row of `SELECT_DELIVERY` with one more column, the status before the claim. */
export function claimedDeliveryFromRow(row: Row): ClaimedDelivery {
  const delivery = deliveryFromRow(row)
  return row.at(-1) === ('delivering' satisfies Delivery['status'])
    ? { ...delivery, isCutOff: true }
    : delivery
}

type AttemptRow = [
  deliveryId: string,
  attempt: number,
  id: string,
  outcome: DeliveryAttempt['outcome'],
  statusCode: number | null,
  responseSnippet: string | null,
  error: string | null,
  durationMs: number,
  createdAt: number,
]

export const ATTEMPT_COLUMNS: Columns<AttemptRow> = [
  'delivery_id',
  'attempt',
  'id',
  'outcome',
  'status_code',
  'response_snippet',
  'error',
  'duration_ms',
  'created_at',
]

export function attemptRow(attempt: DeliveryAttempt): AttemptRow {
  const { deliveryId, attempt: number, id, outcome, statusCode, responseSnippet, error } = attempt
  const { durationMs, createdAt } = attempt
  const told = [statusCode ?? null, responseSnippet ?? null, error ?? null] as const
  return [deliveryId, number, id, outcome, ...told, durationMs, createdAt]
}

/** Reads a row of `ATTEMPT_COLUMNS`. */
export function attemptFromRow(row: Row): DeliveryAttempt {
  const [deliveryId, attempt, id, outcome, statusCode, snippet, error, durationMs, createdAt] =
    row as AttemptRow
  return {
    id,
    deliveryId,
    attempt,
    outcome,
    statusCode: statusCode ?? undefined,
    responseSnippet: snippet ?? undefined,
    error: error ?? undefined,
    durationMs,
    createdAt,
  }
}
