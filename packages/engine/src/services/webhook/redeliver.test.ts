// A request to deliver again queues at most 1,000 deliveries, and reports when more match.

import { expect, test } from 'vitest'
import { type Delivery, newDelivery } from '../../domain/model/delivery.ts'
import { Deliveries } from './redeliver.ts'

const ABOUT = {
  namespace: 'default',
  app: 'shop',
  url: 'https://a.example',
  eventKind: 'custom',
  maxAttempts: 8,
} as const
const dead = (count: number): Delivery[] =>
  Array.from({ length: count }, (_, i) => ({ ...newDelivery(0, { ...ABOUT, id: `dlv_${i}` }), status: 'dead' }))

test.each([
  [1000, { matched: 1000, queued: 1000, skipped: 0, capped: false }],
  [1001, { matched: 1000, queued: 1000, skipped: 0, capped: true }],
])('of %i it takes %j', (count, counts) => {
  const deliveries = new Deliveries({} as never)
  expect(deliveries.preview(dead(count))).toEqual(counts)
})
