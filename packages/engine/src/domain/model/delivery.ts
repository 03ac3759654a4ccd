// The webhook delivery: a durable POST to somebody else's server, with an append-only log of its attempts
// (contract §2.8, decisions "Webhooks"). Pure data; `delivery-attempt.ts` decides what an attempt leads to.

import { boundedKey } from '../text/bounded-key.ts'
import type { JsonText } from '../text/json-text.ts'

export type DeliveryStatus = 'pending' | 'delivering' | 'succeeded' | 'failed' | 'exhausted' | 'dead'
export type DeliveryKind = 'run.succeeded' | 'run.failed' | 'run.cancelled' | 'step.failed' | 'custom'
export type DeliveryOutcome = 'succeeded' | 'http_error' | 'timeout' | 'connection_error' | 'skipped'

export interface Delivery {
  namespace: string
  id: string
  app: string
  endpointId?: string
  /** Where the latest attempt went, or the first is to go: that of an endpoint follows the endpoint's. */
  url: string
  eventKind: DeliveryKind
  sourceRunId?: string
  /** The `traceparent` its posts go on from; absent: that of its source run's id. */
  trace?: string
  payload?: JsonText
  status: DeliveryStatus
  attemptCount: number
  maxAttempts: number
  lastStatusCode?: number
  nextAttemptAt?: number
  createdAt: number
  updatedAt: number
  /** As on a run: version, schedule and lease. */
  fence: number
  availableAt?: number
  leaseOwner?: string
}

/** What is kept apart from the others when it is slow or down: an endpoint, or the server of a custom send. A key. */
export function destinationOf({ endpointId, url }: Pick<Delivery, 'endpointId' | 'url'>): string {
  return endpointId ?? boundedKey(URL.canParse(url) ? new URL(url).origin : url)
}

export interface DeliveryAttempt {
  id: string
  deliveryId: string
  /** From 1. */
  attempt: number
  outcome: DeliveryOutcome
  statusCode?: number
  responseSnippet?: string
  error?: string
  durationMs: number
  createdAt: number
}
