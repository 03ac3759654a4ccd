// Webhook deliveries and their attempts on the wire (contract §2.8).

import type { Delivery, DeliveryAttempt } from '../../../domain/model/delivery.ts'
import { list, splice } from '../../../domain/text/json-splice.ts'
import type { JsonText } from '../../../domain/text/json-text.ts'
import { timestamp } from '../../../domain/text/timestamp.ts'

export function deliveryText(delivery: Delivery): JsonText {
  return splice(head(delivery), payloadOf(delivery))
}

/** The delivery with every attempt made. */
export function deliveryDetailText(delivery: Delivery, attempts: readonly DeliveryAttempt[]): JsonText {
  const made = list(attempts.map(attempt => JSON.stringify(presentAttempt(attempt))))
  return splice(head(delivery), { ...payloadOf(delivery), attempts: made })
}

/** To the letter; a send without data has the body `null`. */
function payloadOf({ payload = 'null' }: Delivery): { payload: JsonText } {
  return { payload }
}

function head(delivery: Delivery) {
  const { nextAttemptAt } = delivery
  return {
    id: delivery.id,
    app: delivery.app,
    endpointId: delivery.endpointId,
    url: delivery.url,
    eventKind: delivery.eventKind,
    sourceRunId: delivery.sourceRunId,
    status: delivery.status,
    attemptCount: delivery.attemptCount,
    maxAttempts: delivery.maxAttempts,
    lastStatusCode: delivery.lastStatusCode,
    nextAttemptAt: nextAttemptAt === undefined ? undefined : timestamp(nextAttemptAt),
    createdAt: timestamp(delivery.createdAt),
    updatedAt: timestamp(delivery.updatedAt),
  }
}

function presentAttempt({ deliveryId: _, createdAt, ...attempt }: DeliveryAttempt) {
  return { ...attempt, createdAt: timestamp(createdAt) }
}
