// Redelivers on request (docs/webhooks.md#redelivery): past attempts stay, and a full schedule of new ones is granted.

import type { Unit } from '../model/change.ts'
import type { Delivery } from '../model/delivery.ts'
import { EngineError } from '../model/errors.ts'

/**
 * Queues the delivery again, whatever its status. Throws `delivery_in_flight` while it is `delivering`: a delivery has that
 * status from its claim on, so a leased delivery is always refused. The fence rises, so that an earlier decision on the
 * delivery is stale.
 */
export function redeliver(delivery: Delivery, { now, attemptsMax }: { now: number; attemptsMax: number }): Unit {
  const { nextAttemptAt: _next, leaseOwner: _owner, ...kept } = delivery
  if (delivery.status === 'delivering')
    throw new EngineError('delivery_in_flight', `Delivery ${delivery.id} is being delivered right now.`)
  const queued: Delivery = {
    ...kept,
    status: 'pending',
    maxAttempts: delivery.attemptCount + attemptsMax,
    availableAt: now,
    updatedAt: now,
    fence: delivery.fence + 1,
  }
  return {
    guards: [{ type: 'delivery', deliveryId: delivery.id, fence: delivery.fence }],
    changes: [{ type: 'delivery.moved', delivery: queued }],
  }
}
