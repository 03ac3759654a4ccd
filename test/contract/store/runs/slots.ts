// Which due runs a claim leases: concurrency slots and priorities.

import { describe, expect, it } from 'vitest'
import { HELD_RECHECK_MS } from '../../../../packages/engine/src/domain/holds/concurrency.ts'
import type { Slot } from '../../../../packages/engine/src/domain/model/flow-control.ts'
import type { Run } from '../../../../packages/engine/src/domain/model/run.ts'
import { firstSeq } from '../../../../packages/engine/src/domain/model/seq.ts'
import type { Claim } from '../../../../packages/engine/src/ports/store.ts'
import { aLeasedRun, aRun, created, eachStore, moved, NOW, NS, type OpenStore, write } from '../samples.ts'

const LEASE_MS = 15_000

function aClaim(fields: Partial<Claim> = {}): Claim {
  const { now = NOW } = fields
  return { owner: 'engine-1', now, leaseUntil: now + LEASE_MS, limit: 100, ...fields }
}

const slot = (id: string, limit = 1): Slot => ({ id, limit, key: `key of ${id}` })
const inSlots = (...slots: Slot[]): Partial<Run> => ({ holds: { slots } })

export function slotsContract(open: OpenStore): void {
  describe('concurrency slots', () => {
    const store = eachStore(open)
    const claim = async (fields: Partial<Claim> = {}) => (await store().claimRuns(aClaim(fields))).map(({ run }) => run)
    const claimIds = async (fields: Partial<Claim> = {}) => (await claim(fields)).map(({ id }) => id)
    const load = async (run: Run) => (await store().loadRun(run.id))?.run as Run

    /** Ends the run and releases its lease, as the domain writes it. */
    async function end(run: Run, at: number) {
      const ended = await load(run)
      const { leaseOwner: _, availableAt: __, ...rest } = ended
      await write(store(), moved({ ...rest, status: 'succeeded', finishedAt: at, fence: ended.fence + 1 }), {
        type: 'slots.freed',
        slotIds: run.holds?.slots?.map(({ id }) => id) ?? [],
        at,
      })
    }

    it('leases as many as the limit and holds the rest, queued, with the reason', async () => {
      const runs = [1, 2, 3].map(() => aRun(inSlots(slot('s', 2))))
      await write(store(), ...runs.map(run => created(run)))
      expect(await claimIds()).toEqual([runs[0]?.id, runs[1]?.id])
      const held = await load(runs[2] as Run)
      expect(held).toMatchObject({
        status: 'queued',
        waitsForSlot: 's',
        availableAt: NOW + HELD_RECHECK_MS,
        waitingFor: { kind: 'concurrency', key: 'key of s' },
        fence: 1,
      })
      expect(held.leaseOwner).toBeUndefined()
      expect(await claimIds()).toEqual([])
    })

    it('holds a run only for its own slot: a full other slot is no obstacle', async () => {
      const runs = [inSlots(slot('s')), inSlots(slot('s')), inSlots(slot('t')), {}].map(fields => aRun(fields))
      await write(store(), ...runs.map(run => created(run)))
      expect(await claimIds({ limit: 3 })).toEqual([0, 2, 3].map(i => runs[i]?.id))
    })

    it('wakes the first in the queue when a slot is freed: the highest priority, then the oldest', async () => {
      const priorities = [undefined, -1, undefined, 5, 5]
      const runs = priorities.map((priority, i) =>
        aRun({ ...inSlots(slot('s')), createdAt: NOW + i, ...(priority === undefined ? {} : { priority }) }),
      )
      const first = aRun({ ...inSlots(slot('s')), availableAt: NOW - 1, priority: 9 })
      await write(store(), ...[first, ...runs].map(run => created(run)))
      expect(await claimIds()).toEqual([first.id])
      let last = first
      const order: number[] = []
      for (let turn = 1; turn <= runs.length; turn++) {
        await end(last, NOW + turn)
        const [next, ...others] = await claim({ now: NOW + turn })
        expect(others).toEqual([])
        last = next as Run
        order.push(runs.findIndex(({ id }) => id === last.id))
      }
      expect(order).toEqual([3, 4, 0, 2, 1])
    })

    it('lets a run in only when every one of its slots has room', async () => {
      const both = aRun(inSlots(slot('a'), slot('b')))
      const b = aRun({ ...inSlots(slot('b')), availableAt: NOW - 1 })
      await write(store(), created(b), created(both))
      expect(await claimIds()).toEqual([b.id])
      expect((await load(both)).waitsForSlot).toBe('b')
      await end(b, NOW + 1)
      expect(await claimIds({ now: NOW + 1 })).toEqual([both.id])
    })

    it('passes a free slot on when the run that was woken for it lacks another', async () => {
      const a = aRun({ ...inSlots(slot('a')), availableAt: NOW - 2 })
      const b = aRun({ ...inSlots(slot('b')), availableAt: NOW - 1 })
      const both = aRun(inSlots(slot('a'), slot('b')))
      const waiter = aRun({ ...inSlots(slot('a')), createdAt: NOW + 1 })
      await write(store(), ...[a, b, both, waiter].map(run => created(run)))
      expect(await claimIds()).toEqual([a.id, b.id])
      await end(a, NOW + 1)
      expect(await claimIds({ now: NOW + 1 })).toEqual([waiter.id])
      expect((await load(both)).waitsForSlot).toBe('b')
    })

    it('counts a slot at any place among a run’s own', async () => {
      const holder = aRun({ ...inSlots(slot('x'), slot('y'), slot('s')), availableAt: NOW - 1 })
      const late = aRun(inSlots(slot('s')))
      await write(store(), created(holder), created(late))
      expect(await claimIds()).toEqual([holder.id])
    })

    it('writes the queued frame of a waiting run that is held', async () => {
      const parked = aRun({
        ...inSlots(slot('s')),
        status: 'waiting',
        startedAt: NOW,
        startedSeq: 2,
        fence: 3,
        waitingFor: { kind: 'sleep' },
      })
      await write(store(), created(aLeasedRun(inSlots(slot('s')))), created(parked))
      expect(await claimIds()).toEqual([])
      expect(await load(parked)).toMatchObject({ status: 'queued', waitingFor: { kind: 'concurrency' } })
      const { frames } = await store().in(NS).timeline(parked.id, { after: 2, limit: 10, openFrom: 0 })
      expect(frames).toMatchObject([{ kind: 'run_status', seq: firstSeq(4), status: 'queued' }])
    })

    it('leases a run again whose lease ran out: it does not compete with itself', async () => {
      const run = aRun(inSlots(slot('s')))
      const next = aRun({ ...inSlots(slot('s')), createdAt: NOW + 1 })
      await write(store(), created(run), created(next))
      expect(await claimIds()).toEqual([run.id])
      expect(await claimIds({ now: NOW + LEASE_MS, owner: 'engine-2' })).toEqual([run.id])
    })

    it.each<[string, Partial<Run>]>([
      ['is to be cancelled', { cancelRequested: true }],
      ['is paused', { status: 'paused' }],
      ['has timed out', { holds: { slots: [slot('s')], queueTimeoutMs: 10 }, createdAt: NOW - 10 }],
    ])('leases a run that %s although its slot is full, without taking the slot', async (_, fields) => {
      const holder = aLeasedRun(inSlots(slot('s')))
      const run = aRun({ ...inSlots(slot('s')), ...fields })
      await write(store(), created(holder), created(run))
      expect(await claim()).toMatchObject([{ id: run.id, leasedWithoutSlots: true }])
      await end(holder, NOW + 1)
      const next = aRun({ ...inSlots(slot('s')), createdAt: NOW + 2 })
      await write(store(), created(next))
      expect(await claimIds({ now: NOW + 2 })).toEqual([next.id])
    })

    it('counts a kept slot from the start of its run to the end: parked, paused, and leased without slots', async () => {
      const kept = { ...slot('s', 1), kept: true as const }
      const started = { ...inSlots(kept, slot('t')), startedAt: NOW - 1, startedSeq: 2, fence: 3 }
      const far = NOW + 3_600_000
      for (const fields of [
        { status: 'waiting', availableAt: far },
        { status: 'paused', availableAt: undefined },
        { status: 'queued', availableAt: far },
      ] satisfies Partial<Run>[]) {
        const holder = aRun({ ...started, ...fields })
        const [next, free] = [aRun(inSlots(kept)), aRun(inSlots(slot('t')))]
        await write(store(), created(holder), created(next), created(free))
        expect(await claimIds(), fields.status).toEqual([free.id])
        expect((await load(next)).waitsForSlot).toBe('s')
        expect(await store().in(NS).holdersOf('s', 10)).toEqual([holder.id])
        await end(free, NOW)
        await end(holder, NOW)
        expect(await claimIds(), fields.status).toEqual([next.id])
        await end(next, NOW)
      }
    })

    it('leases a run that keeps its slot again, also when the limit has become smaller, and holds it for a slot that it does not keep', async () => {
      const kept = { ...slot('s', 1), kept: true as const }
      const parked = () => aRun({ ...inSlots(kept, slot('t')), status: 'waiting', startedAt: NOW - 1, startedSeq: 2 })
      const runs = [parked(), parked()]
      await write(store(), ...runs.map(run => created(run)))
      expect(await claimIds()).toEqual([runs[0]?.id])
      expect(await load(runs[1] as Run)).toMatchObject({ status: 'queued', waitsForSlot: 't' })
      expect(await store().in(NS).holdersOf('s', 10)).toEqual(runs.map(({ id }) => id))
    })

    it('counts no kept slot of a run that has not started, unless it took the slot over at its creation', async () => {
      const kept = { ...slot('s', 1), kept: true as const }
      const far = { availableAt: NOW + 3_600_000 }
      const first = aRun(inSlots(kept))
      await write(store(), created(aRun({ ...inSlots(kept), ...far })), created(first))
      expect(await claimIds()).toEqual([first.id])
      await end(first, NOW)
      const heir = aRun({ holds: { slots: [kept], fromBirth: true }, ...far })
      const late = aRun(inSlots(kept))
      await write(store(), created(heir), created(late))
      expect(await claimIds()).toEqual([])
      await write(store(), moved({ ...heir, availableAt: NOW, fence: 1 }))
      expect(await claimIds()).toEqual([heir.id])
    })

    it('wakes a held run in time for its deadline', async () => {
      const queueTimeoutMs = 30_000
      const run = aRun({ holds: { slots: [slot('s')], queueTimeoutMs } })
      await write(store(), created(aLeasedRun(inSlots(slot('s')))), created(run))
      await claim()
      expect((await load(run)).availableAt).toBe(NOW + queueTimeoutMs)
    })

    it('frees the slots of others with their leases, and wakes the runs that wait for them', async () => {
      const holders = [aLeasedRun(inSlots(slot('s'), slot('t'))), aLeasedRun({ leaseOwner: 'engine-2' })]
      const held = ['s', 't'].map(id => aRun(inSlots(slot(id))))
      await write(store(), ...[...holders, ...held].map(run => created(run)))
      expect(await claimIds()).toEqual([])
      await store().releaseOthers('engine-2', NOW + 1)
      expect(await load(holders[1] as Run)).toMatchObject({ leaseOwner: 'engine-2' })
      for (const run of held) {
        const { availableAt, waitsForSlot } = await load(run)
        // Due as of their creation, so that they go before younger runs.
        expect({ availableAt, waitsForSlot }).toEqual({ availableAt: NOW, waitsForSlot: undefined })
      }
    })

    it('holds a long queue in several claims, none of which takes long', async () => {
      const runs = Array.from({ length: 1200 }, () => aRun(inSlots(slot('s'))))
      const free = aRun({ createdAt: NOW + 1, availableAt: NOW + 1 })
      await write(store(), created(aLeasedRun(inSlots(slot('s')))), ...[...runs, free].map(run => created(run)))
      let claims = 0
      let found: string[] = []
      while (found.length === 0 && claims++ < 10) found = await claimIds({ now: NOW + 1 })
      expect(found).toEqual([free.id])
      expect(claims).toBeGreaterThan(1)
    })
  })

  describe('priorities', () => {
    const store = eachStore(open)

    it('leases due runs of higher priority first, and those of one priority oldest first', async () => {
      const priorities = [undefined, -5, 2, 1e6, undefined, 2, -0.5, -5]
      const runs = priorities.map((priority, i) =>
        aRun({ availableAt: NOW + i, ...(priority === undefined ? {} : { priority }) }),
      )
      const later = aRun({ availableAt: NOW + 60_000, priority: 7 })
      await write(store(), ...[later, ...runs].map(run => created(run)))
      const order: (string | undefined)[] = []
      for (const limit of [1, 3, 2, 9]) {
        const claimed = await store().claimRuns(aClaim({ now: NOW + 10, limit }))
        order.push(...claimed.map(({ run }) => run.id))
      }
      expect(order).toEqual([3, 2, 5, 0, 4, 6, 1, 7].map(i => runs[i]?.id))
    })

    it('knows when the next run falls due, with a priority or without', async () => {
      await write(store(), created(aRun({ availableAt: NOW + 20, priority: 1 })))
      expect(await store().nextAvailableAt('runs')).toBe(NOW + 20)
      await write(store(), created(aRun({ availableAt: NOW + 10 })))
      expect(await store().nextAvailableAt('runs')).toBe(NOW + 10)
      await write(store(), created(aRun({ availableAt: NOW + 5, priority: -1 })))
      expect(await store().nextAvailableAt('runs')).toBe(NOW + 5)
    })

    it('releases the leases of others for every priority', async () => {
      const runs = [aLeasedRun(), aLeasedRun({ priority: 3 }), aLeasedRun({ priority: -3 })]
      await write(store(), ...runs.map(run => created(run)))
      await store().releaseOthers('engine-2', NOW + 1)
      for (const { id } of runs) {
        const run = (await store().loadRun(id))?.run
        expect([run?.leaseOwner, run?.availableAt, run?.fence]).toEqual([undefined, NOW + 1, 1])
      }
    })
  })
}
