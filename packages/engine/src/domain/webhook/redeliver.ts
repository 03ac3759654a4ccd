// Delivering again on request (contract §4.5): the attempts made stay, and a full schedule of new ones is granted.

import type { Unit } from '../model/change.ts'
import type { Delivery } from '../model/delivery.ts'
import { EngineError } from '../model/errors.ts'

/**
 * Queues the delivery anew, whatever came of it. Throws `delivery_in_flight` while it is `delivering`, which it is
 * from the claim on: there is no moment in which it is leased and says otherwise. The fence goes up, so that whoever
 * decided on the delivery before decides again.
 */
export function redeliver(
  delivery: Delivery,
  { now, attemptsMax }: { now: number; attemptsMax: number },
): Unit {
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
