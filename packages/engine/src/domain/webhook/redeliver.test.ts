import { describe, expect, it } from 'vitest'
import type { Delivery, DeliveryStatus } from '../model/delivery.ts'
import { redeliver } from './redeliver.ts'

const NOW = 1_700_000_000_000

const aDelivery = (fields: Partial<Delivery>): Delivery => ({
  namespace: 'default',
  id: 'dlv_1',
  app: 'shop',
  endpointId: 'whe_1',
  url: 'https://partner.example/hook',
  eventKind: 'run.failed',
  sourceRunId: 'run_1',
  payload: '{"a":1}',
  status: 'exhausted',
  attemptCount: 8,
  maxAttempts: 8,
  lastStatusCode: 500,
  createdAt: NOW - 9000,
  updatedAt: NOW - 1000,
  fence: 16,
  ...fields,
})

describe('redeliver', () => {
  it.each<[DeliveryStatus, Partial<Delivery>]>([
    ['exhausted', {}],
    ['dead', { attemptCount: 1 }],
    ['succeeded', { attemptCount: 2, lastStatusCode: 200 }],
    ['pending', { attemptCount: 0, availableAt: NOW - 5 }],
    ['failed', { attemptCount: 3, nextAttemptAt: NOW + 5000, availableAt: NOW + 5000 }],
  ])('%s: pending at once, with a full schedule on top of what was made', (status, fields) => {
    const delivery = aDelivery({ status, ...fields })
    const { nextAttemptAt: _, ...kept } = delivery
    expect(redeliver(delivery, { now: NOW, attemptsMax: 8 })).toEqual({
      guards: [{ type: 'delivery', deliveryId: 'dlv_1', fence: 16 }],
      changes: [
        {
          type: 'delivery.moved',
          delivery: {
            ...kept,
            status: 'pending',
            maxAttempts: delivery.attemptCount + 8,
            availableAt: NOW,
            updatedAt: NOW,
            fence: 17,
          },
        },
      ],
    })
  })

  it('refuses one that is being delivered, leased or not', () => {
    for (const leaseOwner of ['engine-1', undefined]) {
      const delivery = aDelivery({ status: 'delivering', leaseOwner, availableAt: NOW })
      expect(() => redeliver(delivery, { now: NOW, attemptsMax: 8 })).toThrow(
        expect.objectContaining({ code: 'delivery_in_flight' }),
      )
    }
  })
})
