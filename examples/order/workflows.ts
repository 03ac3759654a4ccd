// An order until it is shipped: every kind of step in one workflow, a child, and a workflow that the order's event starts.

import { createWorkflow, type WorkflowArgs } from 'perdure'

export interface Order {
  orderId: string
  item: string
  amount: number
  /** URL of the warehouse's webhook. */
  notifyUrl: string
}

/** The child, with its own run, timeline and retries. */
export const shipOrder = createWorkflow(
  { name: 'ship-order' },
  async ({ event, step }: WorkflowArgs<{ orderId: string }>) => {
    const label = await step.run('print-label', () => `LABEL-${event.data.orderId}`)
    return { label }
  },
)

let charges = 0

export const processOrder = createWorkflow(
  { name: 'process-order', triggers: { event: 'order.placed' }, retry: { initialMs: 800 } },
  async ({ event, step, ctx }: WorkflowArgs<Order>) => {
    const order = event.data
    ctx.logger.info('order received', { orderId: order.orderId, cardNumber: '4242 4242 4242 4242' })

    // Two parallel steps. The first attempt to charge the card fails, and only that step is retried.
    const [stock, charge] = await Promise.all([
      step.run('reserve-stock', () => ({ item: order.item, reserved: true })),
      step.run('charge-card', ({ logger }) => {
        charges++
        logger.info('calling the payment provider', { try: charges })
        if (charges === 1) throw new Error('The payment provider timed out')
        return { chargeId: `ch_${order.orderId}`, amount: order.amount }
      }),
    ])

    await step.sleep('cooling-off', '1s')

    const approval = await step.waitForEvent<{ by: string }>('approval', {
      event: 'order.approved',
      timeout: '1m',
    })
    if (!approval) return { orderId: order.orderId, status: 'expired' as const }

    const { label } = await step.runWorkflow('ship', {
      workflow: shipOrder,
      data: { orderId: order.orderId },
    })
    await step.emit('announce', { event: 'order.shipped', data: { orderId: order.orderId, label } })
    await ctx.webhook.send('tell-warehouse', {
      url: order.notifyUrl,
      data: { orderId: order.orderId, label },
    })

    return {
      orderId: order.orderId,
      status: 'shipped' as const,
      stock,
      charge,
      approvedBy: approval.data.by,
      label,
    }
  },
)

/** Started by the event that the order emits. */
export const awardPoints = createWorkflow(
  { name: 'award-points', triggers: { event: 'order.shipped' } },
  async ({ event, step }: WorkflowArgs<{ orderId: string }>) => {
    return step.run('add-points', () => ({ orderId: event.data.orderId, points: 10 }))
  },
)
