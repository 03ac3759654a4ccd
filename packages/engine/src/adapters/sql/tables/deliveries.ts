// The tables of webhook deliveries and of their attempts.

import { type Delivery, type DeliveryAttempt, destinationOf } from '../../../domain/model/delivery.ts'
import type { ClaimedDelivery } from '../../../ports/store.ts'
import { derived, integer, json, optional, payload, since, text, unique } from '../description/column.ts'
import { table } from '../description/table.ts'
import type { Row } from '../description/values.ts'

const DUE = 'available_at IS NOT NULL'

export const DELIVERIES = table<Delivery>()('deliveries', {
  fixed: {
    id: unique(text),
    namespace: text,
    app: text,
    endpointId: optional(text),
    eventKind: text,
    sourceRunId: optional(text),
    createdAt: integer,
    // Claims divide their room by it.
    destination: derived(text, destinationOf),
    trace: optional(text),
    payload,
  },
  moving: {
    url: text,
    status: text,
    fence: integer,
    availableAt: optional(integer),
    leaseOwner: optional(text),
    attemptCount: integer,
    maxAttempts: integer,
    lastStatusCode: optional(integer),
    nextAttemptAt: optional(integer),
    updatedAt: integer,
  },
  indexes: {
    deliveries_available: { on: 'available_at, destination', where: DUE },
    deliveries_destined: { on: 'destination, available_at', where: DUE },
    deliveries_listed: { on: 'namespace, created_at, id, app' },
    deliveries_unsent: { on: 'namespace, status, created_at, id', where: `status <> 'succeeded'` },
    deliveries_counted: {
      on: 'namespace, endpoint_id, created_at, status',
      where: 'endpoint_id IS NOT NULL',
      until: 2,
    },
    deliveries_of_endpoint: {
      on: 'namespace, endpoint_id, created_at, status, event_kind',
      where: 'endpoint_id IS NOT NULL',
      since: 2,
    },
    deliveries_of_run: { on: 'source_run_id, created_at', where: 'source_run_id IS NOT NULL' },
    // Retention finds settled deliveries by it.
    deliveries_settled: { on: 'updated_at', where: 'available_at IS NULL' },
  },
})

/** Reads a row of `DELIVERIES.select` with one more column, the status before the claim. */
export function claimedDelivery(row: Row): ClaimedDelivery {
  const delivery = DELIVERIES.fromRow(row)
  return row.at(-1) === ('delivering' satisfies Delivery['status']) ? { ...delivery, isCutOff: true } : delivery
}

export const ATTEMPTS = table<DeliveryAttempt>()('delivery_attempts', {
  key: ['delivery_id', 'attempt'],
  fixed: {
    deliveryId: text,
    attempt: integer,
    id: text,
    outcome: text,
    statusCode: optional(integer),
    responseSnippet: optional(text),
    error: optional(text),
    durationMs: integer,
    requestHeaders: since(2, optional(json)),
    createdAt: integer,
  },
})
