// Webhook deliveries: claims are fair to destinations, and the log lists, pages and counts deliveries.

import { describe, expect, it } from 'vitest'
import type { Delivery } from '../../../../packages/engine/src/domain/model/delivery.ts'
import type { DeliveryClaim, Store } from '../../../../packages/engine/src/ports/store.ts'
import type { DeliveryFilter, DeliveryQuery } from '../../../../packages/engine/src/ports/store-reads.ts'
import { aDelivery, eachStore, NOW, NS, type OpenStore, write } from '../samples.ts'

const URL_OF = (name: string) => `https://${name}.test/hook`
const ORIGIN_OF = (name: string) => `https://${name}.test`

/** A claim that gives each destination that is not named one post. */
function aClaim(fields: Partial<DeliveryClaim> = {}): DeliveryClaim {
  const claim = { owner: 'engine-1', now: NOW, leaseUntil: NOW + 60_000, limit: 100 }
  return { ...claim, room: new Map(), unnamed: 100, ...fields }
}

const roomFor = (room: Record<string, number>) => new Map(Object.entries(room))

async function create(store: Store, ...deliveries: Delivery[]): Promise<Delivery[]> {
  await write(
    store,
    deliveries.map(delivery => ({ type: 'delivery.created' as const, delivery })),
  )
  return deliveries
}

/** `count` deliveries to that host, due 1 ms apart from `from` on. */
function many(name: string, count: number, from = NOW - 100_000): Delivery[] {
  return Array.from({ length: count }, (_, i) => aDelivery({ url: URL_OF(name), availableAt: from + i }))
}

const idsOf = (deliveries: readonly { id: string }[]) => deliveries.map(({ id }) => id)

export function deliveriesContract(open: OpenStore): void {
  describe('claims of deliveries', () => {
    const store = eachStore(open)

    it('lease what is due, oldest first, under a new fence, as delivering', async () => {
      const due = [NOW - 1, NOW - 2].map(at =>
        aDelivery({ availableAt: at, url: URL_OF(`d${at}`), payload: '{"a":1}' }),
      )
      const later = aDelivery({ availableAt: NOW + 1, status: 'failed', nextAttemptAt: NOW + 1 })
      const done = aDelivery({ availableAt: undefined, status: 'succeeded' })
      await create(store(), ...due, later, done)
      const lease = {
        status: 'delivering',
        fence: 1,
        leaseOwner: 'engine-1',
        availableAt: NOW + 60_000,
        updatedAt: NOW,
      }
      expect(await store().claimDeliveries(aClaim())).toEqual([
        { ...due[1], ...lease },
        { ...due[0], ...lease },
      ])
      expect(await store().claimDeliveries(aClaim())).toEqual([])
      const [retried] = await store().claimDeliveries(aClaim({ now: NOW + 1 }))
      expect(retried).toMatchObject({ id: later.id, status: 'delivering' })
      expect(retried?.nextAttemptAt).toBeUndefined()
      expect((await store().in(NS).delivery(later.id))?.delivery).toEqual(retried)
    })

    it('take deliveries again whose leases ran out', async () => {
      const [delivery] = await create(store(), aDelivery())
      await store().claimDeliveries(aClaim())
      expect(await store().claimDeliveries(aClaim({ now: NOW + 59_999 }))).toEqual([])
      const again = await store().claimDeliveries(aClaim({ now: NOW + 60_000, owner: 'engine-2' }))
      expect(again).toMatchObject([
        { id: delivery?.id, fence: 2, leaseOwner: 'engine-2', status: 'delivering', isCutOff: true },
      ])
    })

    it('distinguish deliveries that were under way when their leases ended from others', async () => {
      const due = (status: Delivery['status']) => aDelivery({ status, url: URL_OF(status) })
      await create(store(), due('pending'), due('failed'), due('delivering'))
      const cutOff = async (claim: DeliveryClaim) =>
        (await store().claimDeliveries(claim)).map(({ url, isCutOff }) => [url, isCutOff]).sort()
      expect(await cutOff(aClaim())).toEqual([
        [URL_OF('delivering'), true],
        [URL_OF('failed'), undefined],
        [URL_OF('pending'), undefined],
      ])
      await store().releaseOthers('engine-2', NOW)
      expect((await cutOff(aClaim({ owner: 'engine-2' }))).map(([, isCutOff]) => isCutOff)).toEqual([true, true, true])
    })

    it('take as many of each destination as it has room for, and one of each other destination', async () => {
      const [a, b, c, d] = [many('a', 5), many('b', 5), many('c', 5), many('d', 5)]
      await create(store(), ...a, ...b, ...c, ...d)
      const room = roomFor({ [ORIGIN_OF('a')]: 3, [ORIGIN_OF('b')]: 0 })
      const claimed = await store().claimDeliveries(aClaim({ room }))
      expect(idsOf(claimed).sort()).toEqual(idsOf([...a.slice(0, 3), ...c.slice(0, 1), ...d.slice(0, 1)]).sort())
    })

    it('take no more of the destinations without a room than the claim allows together', async () => {
      const named = many('named', 3)
      await create(store(), ...['a', 'b', 'c', 'd'].flatMap(name => many(name, 2)), ...named)
      const claim = aClaim({ unnamed: 2, room: roomFor({ [ORIGIN_OF('named')]: 9 }) })
      const claimed = await store().claimDeliveries(claim)
      expect(claimed).toHaveLength(5)
      expect(idsOf(claimed)).toEqual(expect.arrayContaining(idsOf(named)))
    })

    it('never take more than the limit', async () => {
      await create(store(), ...many('a', 9), ...many('b', 9))
      const room = roomFor({ [ORIGIN_OF('a')]: 9, [ORIGIN_OF('b')]: 9 })
      expect(await store().claimDeliveries(aClaim({ room, limit: 4 }))).toHaveLength(4)
      expect(await store().claimDeliveries(aClaim({ room, limit: 100 }))).toHaveLength(14)
    })

    it('distinguish endpoints by their id, wherever they are, and custom sends by their server', async () => {
      const url = URL_OF('same')
      const [one, two, custom, path] = await create(
        store(),
        aDelivery({ url, endpointId: 'whe_1' }),
        aDelivery({ url, endpointId: 'whe_2' }),
        aDelivery({ url }),
        aDelivery({ url: `${url}/elsewhere` }),
      )
      const room = roomFor({ whe_1: 0 })
      const claimed = idsOf(await store().claimDeliveries(aClaim({ room })))
      expect(claimed).toContain(two?.id)
      expect(claimed).not.toContain(one?.id)
      expect(claimed.filter(id => id === custom?.id || id === path?.id)).toHaveLength(1)
    })

    it('find due deliveries behind many of a full destination', async () => {
      const [healthy] = [many('healthy', 3, NOW - 3)]
      await create(store(), ...many('dead', 3000), ...healthy, ...many('other', 2, NOW - 1))
      const room = roomFor({ [ORIGIN_OF('dead')]: 0, [ORIGIN_OF('healthy')]: 2 })
      const claimed = await store().claimDeliveries(aClaim({ room }))
      expect(claimed.map(({ url }) => url).sort()).toEqual([URL_OF('healthy'), URL_OF('healthy'), URL_OF('other')])
      expect(idsOf(claimed)).toEqual(expect.arrayContaining(idsOf(healthy.slice(0, 2))))
      const withRoom = roomFor({ [ORIGIN_OF('dead')]: 1, [ORIGIN_OF('healthy')]: 2 })
      expect(await store().claimDeliveries(aClaim({ room: withRoom, unnamed: 0 }))).toHaveLength(2)
    })

    it('leave deliveries that they may not take, and the next due time is still found', async () => {
      await create(store(), ...many('full', 2), aDelivery({ availableAt: NOW + 70 }))
      expect(await store().claimDeliveries(aClaim({ unnamed: 0 }))).toEqual([])
      expect(await store().nextAvailableAt('deliveries', NOW)).toBe(NOW + 70)
      expect(await store().nextAvailableAt('deliveries')).toBeLessThan(NOW)
      expect(await store().nextAvailableAt('deliveries', NOW + 70)).toBeUndefined()
    })

    it('share out a delivery once among many claims', async () => {
      await create(store(), ...Array.from({ length: 30 }, (_, i) => many(`h${i}`, 2)).flat())
      const claims = Array.from({ length: 10 }, (_, i) => store().claimDeliveries(aClaim({ owner: `e${i}`, limit: 7 })))
      const claimed = idsOf((await Promise.all(claims)).flat())
      expect(new Set(claimed).size).toBe(claimed.length)
      expect(claimed).toHaveLength(60)
    })
  })

  describe('the log of deliveries', () => {
    const store = eachStore(open)

    /** The ids of all pages, and the number of pages. */
    async function pages(query: Omit<DeliveryQuery, 'after'>): Promise<string[][]> {
      const found: string[][] = []
      let after: DeliveryQuery['after']
      for (;;) {
        const { deliveries, more } = await store()
          .in(NS)
          .deliveries({ ...query, after })
        found.push(idsOf(deliveries))
        const last = deliveries.at(-1)
        if (!more || !last) return found
        after = { createdAt: last.createdAt, id: last.id }
      }
    }

    it('lists the newest first, by status and app, in pages that meet each once', async () => {
      const statuses = ['pending', 'succeeded', 'dead', 'failed', 'exhausted', 'delivering'] as const
      const all = await create(
        store(),
        ...Array.from({ length: 24 }, (_, i) =>
          aDelivery({
            status: statuses[i % 6],
            app: i % 2 === 0 ? 'shop' : 'crm',
            createdAt: NOW + Math.floor(i / 4),
          }),
        ),
        aDelivery({ namespace: 'other' }),
      )
      const newest = all.slice(0, 24).sort((a, b) => b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1))
      expect(await pages({ limit: 100 })).toEqual([idsOf(newest)])
      expect((await pages({ limit: 5 })).flat()).toEqual(idsOf(newest))
      expect((await pages({ limit: 24 })).length).toBe(1)
      expect((await pages({ limit: 8 })).length).toBe(3)
      for (const status of statuses) {
        const expected = newest.filter(delivery => delivery.status === status)
        expect((await pages({ status, limit: 3 })).flat(), status).toEqual(idsOf(expected))
      }
      const crm = newest.filter(({ app, status }) => app === 'crm' && status === 'failed')
      expect((await pages({ app: 'crm', status: 'failed', limit: 1 })).flat()).toEqual(idsOf(crm))
      expect(await pages({ app: 'nobody', limit: 1 })).toEqual([[]])
    })

    it('is narrowed by every filter, and by all of them together', async () => {
      const wanted = {
        status: 'failed',
        app: 'shop',
        endpointId: 'whe_1',
        eventKind: 'run.failed',
        sourceRunId: 'run_1',
        createdAt: NOW + 10,
      } as const
      const others: Partial<Delivery>[] = [
        { status: 'succeeded' },
        { app: 'crm' },
        { endpointId: 'whe_2' },
        { eventKind: 'run.succeeded' },
        { sourceRunId: 'run_2' },
        { createdAt: NOW + 9 },
        { createdAt: NOW + 11 },
      ]
      const [delivery] = await create(
        store(),
        aDelivery(wanted),
        ...others.map(other => aDelivery({ ...wanted, ...other })),
      )
      const { createdAt: _, ...fields } = wanted
      const filter: Required<DeliveryFilter> = { ...fields, since: NOW + 10, until: NOW + 11 }
      expect((await pages({ ...filter, limit: 3 })).flat()).toEqual([delivery?.id])
      for (const field of Object.keys(filter) as (keyof DeliveryFilter)[]) {
        expect((await pages({ [field]: filter[field], limit: 3 })).flat(), field).toHaveLength(7)
        expect((await pages({ ...filter, [field]: undefined, limit: 3 })).flat(), field).toHaveLength(2)
      }
    })

    it('gives payloads to the letter, long ones too', async () => {
      const long = JSON.stringify('x'.repeat(5000))
      const [a, b, c] = await create(
        store(),
        aDelivery({ payload: '{"n":1.0}' }),
        aDelivery({ payload: long }),
        aDelivery(),
      )
      const { deliveries } = await store().in(NS).deliveries({ limit: 10 })
      expect(deliveries).toEqual([c, b, a])
      expect(
        (
          await store()
            .in(NS)
            .delivery(b?.id as string)
        )?.delivery,
      ).toEqual(b)
    })

    it('ends a page early where payloads are large, and loses none', async () => {
      const payload = JSON.stringify('x'.repeat(1_000_000))
      const all = await create(store(), ...Array.from({ length: 24 }, () => aDelivery({ payload })))
      const found = await pages({ limit: 1000 })
      expect(found.flat()).toEqual(idsOf(all).reverse())
      for (const page of found) expect(page.length).toBeLessThan(20)
    })

    it('follows the url of an attempt', async () => {
      const [delivery] = (await create(store(), aDelivery({ endpointId: 'whe_1' }))) as [Delivery]
      await write(store(), { type: 'delivery.moved', delivery: { ...delivery, url: URL_OF('moved') } })
      expect((await store().in(NS).delivery(delivery.id))?.delivery.url).toBe(URL_OF('moved'))
    })

    it('counts how the deliveries of each endpoint went', async () => {
      const of = (endpointId: string, status: Delivery['status'], createdAt = NOW, namespace = NS) =>
        aDelivery({ endpointId, status, createdAt, namespace })
      await create(
        store(),
        ...(['pending', 'delivering', 'failed', 'exhausted', 'dead', 'dead', 'succeeded'] as const).map((status, i) =>
          of('whe_1', status, NOW + i),
        ),
        of('whe_1', 'succeeded', NOW - 1),
        of('whe_1', 'dead', NOW, 'other'),
        of('whe_2', 'succeeded', NOW),
        of('whe_3', 'succeeded', NOW - 1),
        aDelivery(),
      )
      const rows = await store().in(NS).endpointStats(NOW)
      expect(rows.sort((a, b) => (a.endpointId < b.endpointId ? -1 : 1))).toEqual([
        { endpointId: 'whe_1', delivered: 7, succeeded: 1, failed: 3, lastDelivery: NOW + 6 },
        { endpointId: 'whe_2', delivered: 1, succeeded: 1, failed: 0, lastDelivery: NOW },
      ])
      expect(await store().in('nobody').endpointStats(0)).toEqual([])
    })
  })

  describe('a delivery', () => {
    const store = eachStore(open)

    it('keeps every field, moves under a guard, and has its attempts in order', async () => {
      const delivery = aDelivery({
        endpointId: 'whe_1',
        sourceRunId: 'run_1',
        eventKind: 'run.failed',
        trace: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
        payload: '{"a":1}',
      })
      await write(store(), { type: 'delivery.created', delivery })
      const attempt = {
        deliveryId: delivery.id,
        outcome: 'http_error',
        statusCode: 500,
        durationMs: 12,
        createdAt: NOW,
      } as const
      const first = {
        ...attempt,
        id: 'att_1',
        attempt: 1,
        responseSnippet: 'oops',
        requestHeaders: { 'webhook-id': 'dlv_1' },
      }
      const second = {
        ...attempt,
        id: 'att_2',
        attempt: 2,
        statusCode: undefined,
        outcome: 'timeout' as const,
        error: 'late',
      }
      const failed = {
        ...delivery,
        status: 'failed' as const,
        attemptCount: 2,
        maxAttempts: 9,
        lastStatusCode: 500,
        nextAttemptAt: NOW + 50,
        availableAt: NOW + 50,
        updatedAt: NOW + 2,
        fence: 1,
        leaseOwner: 'engine-1',
      }
      await store().commit({
        guards: [{ type: 'delivery', deliveryId: delivery.id, fence: 0 }],
        changes: [
          { type: 'delivery.moved', delivery: failed },
          { type: 'delivery.attempted', attempt: second },
          { type: 'delivery.attempted', attempt: first },
        ],
      })
      expect(await store().in(NS).delivery(delivery.id)).toEqual({
        delivery: failed,
        attempts: [first, second],
      })
      const again = { type: 'delivery.attempted', attempt: { ...first, id: 'att_3' } } as const
      await expect(write(store(), again)).rejects.toThrow()
    })
  })
}
