// Counts of webhook deliveries by status: the filters of the list narrow them, and only the newest are looked at.

import { describe, expect, it } from 'vitest'
import type { Delivery } from '../../../../packages/engine/src/domain/model/delivery.ts'
import { DELIVERIES_COUNTED_MAX, type DeliveryFilter } from '../../../../packages/engine/src/ports/store-reads.ts'
import { aDelivery, eachStore, NOW, NS, type OpenStore, write } from '../samples.ts'

export function deliveryCountsContract(open: OpenStore): void {
  describe('counts of deliveries', () => {
    const store = eachStore(open)
    const create = (...deliveries: Delivery[]) =>
      write(
        store(),
        deliveries.map(delivery => ({ type: 'delivery.created' as const, delivery })),
      )

    it('are those of each status, with the filters of the list', async () => {
      const of = (status: Delivery['status'], fields: Partial<Delivery> = {}) =>
        aDelivery({ status, endpointId: 'whe_1', sourceRunId: 'run_1', app: 'shop', createdAt: NOW, ...fields })
      await create(
        ...[of('failed'), of('failed', { createdAt: NOW - 1 }), of('failed', { createdAt: NOW + 1 })],
        ...[of('succeeded'), of('succeeded', { endpointId: 'whe_2' }), of('exhausted', { app: 'crm' })],
        ...[of('dead', { sourceRunId: 'run_2' }), of('pending', { eventKind: 'run.failed' })],
        of('pending', { namespace: 'other' }),
      )
      const counts = async (filter: DeliveryFilter) => {
        const found = await store().in(NS).deliveryCounts(filter)
        expect(found.some(({ isPart }) => isPart)).toBe(false)
        return found.flatMap(({ status, count }) => (count > 0 ? [`${status} ${count}`] : []))
      }
      const all = ['pending 1', 'succeeded 2', 'failed 3', 'exhausted 1', 'dead 1']
      expect(await counts({})).toEqual(all)
      expect(await counts({ status: 'dead' })).toEqual(all)
      expect(await counts({ since: NOW, until: NOW + 1 })).toEqual(all.with(2, 'failed 1'))
      expect(await counts({ endpointId: 'whe_2' })).toEqual(['succeeded 1'])
      expect(await counts({ sourceRunId: 'run_2' })).toEqual(['dead 1'])
      expect(await counts({ sourceRunId: 'run_1', endpointId: 'whe_2' })).toEqual(['succeeded 1'])
      expect(await counts({ app: 'crm' })).toEqual(['exhausted 1'])
      expect(await counts({ endpointId: 'whe_1', app: 'crm' })).toEqual(['exhausted 1'])
      expect(await counts({ eventKind: 'run.failed' })).toEqual(['pending 1'])
    })

    it('are of no more than the newest of each status', async () => {
      const of = (status: Delivery['status']) => (_: unknown, i: number) => aDelivery({ status, createdAt: NOW + i })
      const many = Array.from({ length: DELIVERIES_COUNTED_MAX + 1 }, of('exhausted'))
      await create(...many, ...Array.from({ length: 2 }, of('dead')), of('succeeded')(0, -1))
      const counts = await store().in(NS).deliveryCounts({})
      const exhausted = { count: DELIVERIES_COUNTED_MAX, isPart: true }
      expect(counts).toMatchObject([
        { count: 0 },
        { count: 0 },
        { count: 0, isPart: true },
        {},
        exhausted,
        { count: 2 },
      ])
    })
  })
}
