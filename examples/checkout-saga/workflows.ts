// A saga: every step that changes something brings the step that undoes it. When one fails for good, what was done is
// undone, the last first, and the run still ends well: it has told the customer "no" and left nothing behind.

import { createWorkflow, StepFailedError, type WorkflowArgs } from '@perdure/sdk'
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
    // Filled anew on every pass, from stored results: it is as long as what has really been done.
    const undo: (() => Promise<unknown>)[] = []
    try {
      // `catch: true` hands a failure to us, once the retries are spent; without it the run would fail there.
      // The key is the same on every attempt: a service that has seen it does the thing once.
      const stock = await step.run(
        'reserve',
        ({ idempotencyKey }) => warehouse.reserve(order, idempotencyKey),
        {
          catch: true,
        },
      )
      undo.unshift(() => step.run('release', () => warehouse.release(stock.reservationId)))

      const payment = await step.run(
        'charge',
        ({ idempotencyKey }) => payments.charge(order, idempotencyKey),
        {
          catch: true,
        },
      )
      undo.unshift(() => step.run('refund', () => payments.refund(payment.chargeId)))

      const parcel = await step.run('ship', () => carrier.book(order), { catch: true })
      return { status: 'shipped' as const, tracking: parcel.tracking }
    } catch (error) {
      if (!(error instanceof StepFailedError)) throw error // a bug of ours is no reason to refund
      ctx.logger.warn('undoing the checkout', { failedAt: error.stepName, steps: undo.length })
      // These have no `catch`: should undoing fail for good, the run fails, and somebody must look.
      for (const compensate of undo) await compensate()
      return { status: 'undone' as const, failedAt: error.stepName, reason: error.message }
    }
  },
)
