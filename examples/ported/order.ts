// An order as a saga: each step that changes something says how to undo it. When a step fails for good, or somebody cancels the
// run, what was done is undone in reverse order.

import { createWorkflow, type WorkflowArgs } from 'perdure'

export interface Order {
  orderId: string
  items: { sku: string; count: number }[]
  cents: number
}

export const order = createWorkflow(
  {
    name: 'order',
    triggers: { event: 'order/placed' },
    retry: { maxAttempts: 3, initialMs: 1000, nonRetriable: ['CardDeclined'] },
    onFailure: async ({ event, error, step }) => {
      await step.run('tell the customer', () => mail(event.data.orderId, error.message))
    },
  },
  async ({ event, step }: WorkflowArgs<Order>) => {
    const { orderId, items, cents } = event.data

    for (const { sku, count } of items) {
      await step.run(`reserve ${sku}`, ({ idempotencyKey }) => warehouse.reserve(sku, count, idempotencyKey), {
        rollback: ({ shelf }) => warehouse.release(shelf),
      })
    }
    const { chargeId } = await step.run('pay', ({ idempotencyKey }) => bank.charge(cents, idempotencyKey), {
      rollback: ({ chargeId }, { idempotencyKey }) => bank.refund(chargeId, idempotencyKey),
    })
    const { parcel } = await step.run('ship', () => carrier.book(orderId))
    return { status: 'shipped', parcel, chargeId }
  },
)

/** The bank refuses the card. Another attempt would get the same answer. */
export class CardDeclined extends Error {
  override name = 'CardDeclined'
}

/** The largest amount that the bank accepts. */
const CENTS_MAX = 500_000

// The rest stands for other services.

const warehouse = {
  reserve: async (sku: string, count: number, _key: string) => ({ shelf: `shelf-${sku}`, count }),
  release: async (shelf: string) => ({ released: shelf }),
}

const bank = {
  async charge(cents: number, key: string) {
    if (cents > CENTS_MAX) throw new CardDeclined('the card was declined')
    return { chargeId: `charge-${key.slice(-6)}` }
  },
  refund: async (chargeId: string, _key: string) => ({ refunded: chargeId }),
}

const carrier = {
  book: async (orderId: string) => ({ parcel: `parcel-${orderId}` }),
}

async function mail(orderId: string, text: string) {
  return { orderId, text }
}
