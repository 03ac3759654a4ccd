// A saga: every step that changes something has a step that undoes it. When a step fails after all its attempts, the
// completed steps are undone, the last first. The run still succeeds: the customer gets a refusal and nothing is left.

import { createWorkflow, StepFailedError, type WorkflowArgs } from 'perdure'
import { carrier, payments, warehouse } from './services.ts'

export interface Order {
  orderId: string
  item: string
  amount: number
  country: string
}

export const checkout = createWorkflow(
  { name: 'checkout', triggers: { event: 'cart/checked-out' }, retry: { maxAttempts: 2, initialMs: 50 } },
  async ({ event, step, ctx }: WorkflowArgs<Order>) => {
    const order = event.data
    // Every pass builds this list from stored results, so it contains exactly the completed steps.
    const undo: (() => Promise<unknown>)[] = []
    try {
      // The key is the same on every attempt, so the service can ignore a repeated call.
      const stock = await step.run('reserve', ({ idempotencyKey }) => warehouse.reserve(order, idempotencyKey))
      undo.unshift(() => step.run('release', () => warehouse.release(stock.reservationId)))

      const payment = await step.run('charge', ({ idempotencyKey }) => payments.charge(order, idempotencyKey))
      undo.unshift(() => step.run('refund', () => payments.refund(payment.chargeId)))

      const parcel = await step.run('ship', () => carrier.book(order))
      return { status: 'shipped' as const, tracking: parcel.tracking }
    } catch (error) {
      if (!(error instanceof StepFailedError)) throw error // a bug in this handler is no reason to refund
      ctx.logger.warn('undoing the checkout', { failedAt: error.stepName, steps: undo.length })
      // Nothing catches these: if an undo action fails after all its attempts, the run fails and needs attention.
      for (const compensate of undo) await compensate()
      return { status: 'undone' as const, failedAt: error.stepName, reason: error.message }
    }
  },
)
