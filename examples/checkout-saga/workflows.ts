// A saga: every step that changes something has a rollback that undoes it. When a step fails after all its attempts, the run fails, and
// its completed steps are undone, the last first. A cancel does the same.

import { createWorkflow, type WorkflowArgs } from 'perdure'
import { carrier, payments, warehouse } from './services.ts'

export interface Order {
  orderId: string
  item: string
  amount: number
  country: string
}

export const checkout = createWorkflow(
  { name: 'checkout', triggers: { event: 'cart/checked-out' }, retry: { maxAttempts: 2, initialMs: 50 } },
  async ({ event: { data: order }, step }: WorkflowArgs<Order>) => {
    // The key is the same on every attempt, so the service can ignore a repeated call.
    await step.run('reserve', ({ idempotencyKey }) => warehouse.reserve(order, idempotencyKey), {
      rollback: ({ reservationId }) => warehouse.release(reservationId),
    })
    await step.run('charge', ({ idempotencyKey }) => payments.charge(order, idempotencyKey), {
      rollback: ({ chargeId }) => payments.refund(chargeId),
    })
    const parcel = await step.run('ship', () => carrier.book(order))
    return { status: 'shipped', tracking: parcel.tracking }
  },
)
