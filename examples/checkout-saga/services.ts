// Simulated external services: a warehouse, a payment provider, a carrier.

import { NonRetriableError } from 'perdure'
import type { Order } from './workflows.ts'

export const warehouse = {
  reserve: async ({ item }: Order, key: string) => ({ reservationId: `rsv_${item}_${key.slice(-6)}` }),
  release: async (reservationId: string) => ({ released: reservationId }),
}

export const payments = {
  async charge({ orderId, amount }: Order, _key: string) {
    // A further attempt would fail too.
    if (amount > 5000) throw new NonRetriableError('The card was declined')
    return { chargeId: `ch_${orderId}`, amount }
  },
  refund: async (chargeId: string) => ({ refunded: chargeId }),
}

export const carrier = {
  async book({ orderId, country }: Order) {
    if (country === 'AQ') throw new Error('No parcel service answers there')
    return { tracking: `TRK-${orderId}` }
  },
}
