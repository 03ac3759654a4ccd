// The webhook delivery: a durable POST to a receiver outside the engine, with an append-only log of its attempts
// (docs/webhooks.md#deliveries). Pure data; webhook/delivery-attempt decides the consequences of an attempt.

import type { WebhookDelivery, DeliveryAttempt as WireAttempt } from '@perdure/protocol'
import { boundedKey } from '../text/bounded-key.ts'
import type { JsonText } from '../text/json-text.ts'

export type DeliveryStatus = WebhookDelivery['status']
export type DeliveryKind = WebhookDelivery['eventKind']
export type DeliveryOutcome = WireAttempt['outcome']
export const DELIVERY_OUTCOMES = Object.keys({
  succeeded: true,
  http_error: true,
  timeout: true,
  connection_error: true,
  skipped: true,
} satisfies Record<DeliveryOutcome, true>) as DeliveryOutcome[]

export interface Delivery {
  namespace: string
  id: string
  app: string
  endpointId?: string
  /** Target of the latest attempt, or of the first one. A delivery to an endpoint follows changes of the endpoint's URL. */
  url: string
  eventKind: DeliveryKind
  sourceRunId?: string
  /** The `traceparent` that its POSTs continue; absent: one that is derived from the source run's id. */
  trace?: string
  payload?: JsonText
  status: DeliveryStatus
  attemptCount: number
  maxAttempts: number
  lastStatusCode?: number
  nextAttemptAt?: number
  createdAt: number
  updatedAt: number
  /** Version, schedule and lease, as in a run. */
  fence: number
  availableAt?: number
  leaseOwner?: string
}

/** A delivery that is due at once. */
export function newDelivery(
  now: number,
  fields: Pick<Delivery, 'namespace' | 'id' | 'app' | 'url' | 'eventKind' | 'maxAttempts'> & Partial<Delivery>,
): Delivery {
  const times = { createdAt: now, updatedAt: now, availableAt: now }
  return { ...fields, ...times, status: 'pending', attemptCount: 0, fence: 0 }
}

/**
 * The key of the delivery's destination: its endpoint, or the server of a custom send. A slow destination delays only its own
 * deliveries.
 */
export function destinationOf({ endpointId, url }: Pick<Delivery, 'endpointId' | 'url'>): string {
  return endpointId ?? boundedKey(URL.canParse(url) ? new URL(url).origin : url)
}

export interface DeliveryAttempt extends Omit<WireAttempt, 'createdAt'> {
  deliveryId: string
  createdAt: number
}

/** A post to an endpoint, in the form that the roll-ups count (webhook/attempt-tally). */
export interface CountedPost {
  namespace: string
  endpointId: string
  at: number
  outcome: 'succeeded' | 'failed'
  durationClass: number
}
