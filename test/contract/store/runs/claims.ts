// Claims and leases. `availableAt` is schedule, lease, park and crash recovery at once.

import { describe, expect, it } from 'vitest'
import type { Claim } from '../../../../packages/engine/src/ports/store.ts'
import {
  aDelivery,
  aLeasedRun,
  aLine,
  aParkedRun,
  aRun,
  aStep,
  created,
  eachStore,
  moved,
  NOW,
  NS,
  type OpenStore,
  write,
} from '../samples.ts'

function aClaim(fields: Partial<Claim> = {}): Claim {
  return { owner: 'engine-1', now: NOW, leaseUntil: NOW + 15_000, limit: 100, ...fields }
}

export function claimsContract(open: OpenStore): void {
  describe('claims and leases', () => {
    const store = eachStore(open)

    it('leases due runs with their steps, under a new fence, and leaves the status alone', async () => {
      const run = aRun({ status: 'waiting', fence: 4, input: '{"a":1}', waitingFor: { kind: 'sleep' } })
      const steps = [aStep(run), aStep(run, { index: 1, op: 'Sleep', status: 'waiting' })]
      const lines = [aLine(run, { index: 0 }), aLine(run, { index: 6 }), aLine(run, { index: 3 })]
      const stepLine = aLine(run, { seq: 300, index: 50, scope: 'charge', dedupe: 'charge#1#50' })
      await write(
        store(),
        created(run, ...steps),
        [...lines, stepLine].map(line => ({ type: 'log.written' as const, line })),
      )
      const [claimed, ...others] = await store().claimRuns(aClaim())
      expect(others).toEqual([])
      expect(claimed).toEqual({
        run: { ...run, fence: 5, leaseOwner: 'engine-1', availableAt: NOW + 15_000 },
        steps,
        rootLogged: 7,
      })
      expect(await store().loadRun(run.id)).toEqual(claimed)
    })

    it('takes the oldest first, up to the limit, and only what is due', async () => {
      const times = [30, 10, 20, 40, 0]
      const runs = times.map(ms => aRun({ availableAt: NOW + ms }))
      await write(store(), ...runs.map(run => created(run)), created(aParkedRun()))
      const claim = async (now: number, limit: number) =>
        (await store().claimRuns(aClaim({ now, limit, leaseUntil: now + 15_000 }))).map(({ run }) => run.id)
      expect(await claim(NOW - 1, 10)).toEqual([])
      expect(await claim(NOW + 30, 2)).toEqual([runs[4]?.id, runs[1]?.id])
      expect(await claim(NOW + 30, 10)).toEqual([runs[2]?.id, runs[0]?.id])
      expect(await claim(NOW + 39, 10)).toEqual([])
      expect(await claim(NOW + 40, 10)).toEqual([runs[3]?.id])
    })

    it('gives a run to one of many claims', async () => {
      const runs = Array.from({ length: 30 }, () => aRun())
      await write(store(), ...runs.map(run => created(run)))
      const claims = Array.from({ length: 10 }, (_, i) => store().claimRuns(aClaim({ owner: `e${i}`, limit: 7 })))
      const claimed = (await Promise.all(claims)).flat().map(({ run }) => run.id)
      expect(claimed).toHaveLength(30)
      expect(new Set(claimed).size).toBe(30)
    })

    it('claims a run again once its lease has run out', async () => {
      const run = aRun()
      await write(store(), created(run))
      await store().claimRuns(aClaim())
      expect(await store().claimRuns(aClaim({ now: NOW + 14_999, owner: 'engine-2' }))).toEqual([])
      const again = await store().claimRuns(aClaim({ now: NOW + 15_000, owner: 'engine-2', leaseUntil: NOW + 30_000 }))
      expect(again).toMatchObject([{ run: { id: run.id, fence: 2, leaseOwner: 'engine-2' } }])
    })

    it('keeps the order of requests: a claim sees the unit before it, not the one after it', async () => {
      const [before, behind] = [aRun(), aRun()]
      const [, claimed] = await Promise.all([
        write(store(), created(before)),
        store().claimRuns(aClaim()),
        write(store(), created(behind)),
      ])
      expect(claimed.map(({ run }) => run.id)).toEqual([before.id])
    })

    it('claims in every namespace', async () => {
      await write(store(), created(aRun({ namespace: 'a' })), created(aRun({ namespace: 'b' })))
      expect((await store().claimRuns(aClaim())).map(({ run }) => run.namespace).sort()).toEqual(['a', 'b'])
    })

    it('answers when the next row of a lane is due', async () => {
      expect(await store().nextAvailableAt('runs')).toBeUndefined()
      expect(await store().nextAvailableAt('deliveries')).toBeUndefined()
      await write(
        store(),
        created(aParkedRun()),
        created(aRun({ availableAt: NOW + 9 })),
        created(aRun({ availableAt: NOW + 4 })),
        { type: 'delivery.created', delivery: aDelivery({ availableAt: NOW + 70 }) },
      )
      expect(await store().nextAvailableAt('runs')).toBe(NOW + 4)
      expect(await store().nextAvailableAt('deliveries')).toBe(NOW + 70)
    })

    it('extends leases that are still held, and answers which are lost', async () => {
      const held = aLeasedRun({ fence: 3 })
      const paused = aLeasedRun({ fence: 3 })
      const asked = aLeasedRun()
      const taken = aLeasedRun()
      const givenBack = aRun({ availableAt: NOW + 99 })
      const runs = [held, paused, asked, taken, givenBack]
      await write(store(), ...runs.map(run => created(run)))
      await write(store(), moved(paused, { fence: 4, status: 'paused' }), moved(taken, { leaseOwner: 'engine-2' }), {
        type: 'run.cancelRequested',
        runId: asked.id,
        at: NOW,
      })
      const lost = await store().extendRuns('engine-1', [...runs.map(({ id }) => id), 'no'], NOW + 50_000)
      expect(lost).toEqual([asked.id, taken.id, givenBack.id, 'no'])
      const availableAt = async (id: string) => (await store().loadRun(id))?.run.availableAt
      expect(await Promise.all(runs.map(({ id }) => availableAt(id)))).toEqual([
        NOW + 50_000,
        NOW + 50_000,
        NOW,
        NOW + 15_000,
        NOW + 99,
      ])
      expect(await store().extendRuns('engine-1', [], NOW)).toEqual([])
    })

    it('does not extend a lease over the unit that gave it back just before', async () => {
      const run = aLeasedRun()
      await write(store(), created(run))
      const parked = { status: 'waiting', leaseOwner: undefined, availableAt: NOW + 60_000 } as const
      const [, lost] = await Promise.all([
        write(store(), moved(run, parked)),
        store().extendRuns('engine-1', [run.id], NOW + 20_000),
      ])
      expect(lost).toEqual([run.id])
      expect((await store().loadRun(run.id))?.run.availableAt).toBe(NOW + 60_000)
    })

    it('releases the leases of other owners, under new fences', async () => {
      const mine = aLeasedRun({ leaseOwner: 'me' })
      const theirs = aLeasedRun({ leaseOwner: 'them', fence: 7 })
      const paused = aLeasedRun({ leaseOwner: 'them', status: 'paused', availableAt: undefined })
      const asleep = aRun({ status: 'waiting', availableAt: NOW + 5000 })
      const delivery = aDelivery({
        status: 'delivering',
        leaseOwner: 'them',
        availableAt: NOW + 60_000,
        fence: 2,
      })
      await write(
        store(),
        [mine, theirs, paused, asleep].flatMap(run => created(run)),
        {
          type: 'delivery.created',
          delivery,
        },
      )
      await store().releaseOthers('me', NOW + 1)
      const now = async (id: string) => (await store().loadRun(id))?.run
      expect(await now(mine.id)).toEqual(mine)
      expect(await now(asleep.id)).toEqual(asleep)
      expect(await now(theirs.id)).toEqual({
        ...theirs,
        leaseOwner: undefined,
        availableAt: NOW + 1,
        fence: 8,
      })
      expect((await now(paused.id))?.availableAt).toBeUndefined()
      expect((await store().in(NS).delivery(delivery.id))?.delivery).toEqual({
        ...delivery,
        leaseOwner: undefined,
        availableAt: NOW + 1,
        fence: 3,
      })
      expect((await store().claimRuns(aClaim({ now: NOW + 1 }))).map(({ run }) => run.id)).toEqual([theirs.id])
    })

    it('loads huge runs a few at a time', async () => {
      const data = JSON.stringify('x'.repeat(1_000_000))
      for (let i = 0; i < 5; i++) {
        const run = aRun({ availableAt: NOW - 10 + i })
        await write(store(), created(run, ...Array.from({ length: 9 }, (_, index) => aStep(run, { index, data }))))
      }
      const first = await store().claimRuns(aClaim())
      const rest = await store().claimRuns(aClaim())
      expect(first.length).toBeGreaterThan(0)
      expect(first.length).toBeLessThan(5)
      expect(first.length + rest.length).toBe(5)
    })
  })
}
