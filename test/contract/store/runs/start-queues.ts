// The start queue of a throttle: which runs wake, and how a claim changes a place in the queue.

import { describe, expect, it } from 'vitest'
import { STARTS_WOKEN_MAX } from '../../../../packages/engine/src/domain/holds/throttle.ts'
import type { Holds } from '../../../../packages/engine/src/domain/model/flow-control.ts'
import type { Run } from '../../../../packages/engine/src/domain/model/run.ts'
import { aLeasedRun, aRun, created, eachStore, NOW, NS, type OpenStore, write } from '../samples.ts'

const throttle = { id: 't', limit: 1, periodMs: 1000, burst: 0 }

function inQueue(fields: Partial<Run> = {}, holds: Holds = {}): Run {
  return aRun({
    holds: { throttle, ...holds },
    startQueue: 't',
    waitingFor: { kind: 'throttle' },
    availableAt: undefined,
    ...fields,
  })
}

export function startQueuesContract(open: OpenStore): void {
  describe('the start queue of a throttle', () => {
    const store = eachStore(open)
    const load = async (run: Run) => (await store().loadRun(run.id))?.run as Run
    const availableAt = (runs: readonly Run[]) => Promise.all(runs.map(async run => (await load(run)).availableAt))
    const wake = (at: number, count = 1) => write(store(), { type: 'startQueue.woken', id: 't', count, at })
    const claim = async (now: number, limit = 100) => {
      const claim = { owner: 'engine-1', now, leaseUntil: now + 15_000, limit }
      return (await store().claimRuns(claim)).map(({ run }) => run)
    }
    const queued = async (...runs: Run[]) => {
      await write(store(), ...runs.map(run => created(run)))
      return runs
    }
    const aged = (...priorities: (number | undefined)[]) =>
      queued(
        ...priorities.map((priority, i) =>
          inQueue({ createdAt: NOW + i, ...(priority === undefined ? {} : { priority }) }),
        ),
      )

    it('lets its runs sleep until the first is woken: the highest priority, then the oldest', async () => {
      const runs = await aged(undefined, -1, 5, 5, undefined)
      expect(await claim(NOW + 60_000)).toEqual([])
      await wake(NOW + 9)
      expect(await availableAt(runs)).toEqual([undefined, undefined, NOW + 9, undefined, undefined])
      const order: number[] = []
      for (let i = 0; i < runs.length; i++) {
        await wake(NOW + 10)
        const [next, ...others] = await claim(NOW + 10)
        expect(others).toEqual([])
        order.push(runs.findIndex(({ id }) => id === next?.id))
      }
      expect(order).toEqual([2, 3, 0, 4, 1])
    })

    it('wakes the requested number of runs, and never puts off a run that is woken already', async () => {
      const runs = await aged(undefined, undefined, undefined)
      await wake(NOW + 20, 2)
      expect(await availableAt(runs)).toEqual([NOW + 20, NOW + 20, undefined])
      await wake(NOW + 30, STARTS_WOKEN_MAX)
      expect(await availableAt(runs)).toEqual([NOW + 20, NOW + 20, NOW + 30])
      await wake(NOW + 10)
      expect(await availableAt(runs)).toEqual([NOW + 10, NOW + 20, NOW + 30])
    })

    it('wakes no run of another queue, no leased run and no run outside the queue', async () => {
      const others = [
        inQueue({ startQueue: 'u', holds: { throttle: { ...throttle, id: 'u' } } }),
        inQueue({ startQueue: undefined }),
      ]
      await queued(...others)
      const leased = aLeasedRun({ holds: { throttle } })
      await queued(leased)
      await wake(NOW + 1, STARTS_WOKEN_MAX)
      expect(await availableAt([...others, leased])).toEqual([undefined, undefined, leased.availableAt])
    })

    it('keeps the place of a woken run until it starts', async () => {
      const [first, second] = (await aged(undefined, undefined)) as [Run, Run]
      await wake(NOW)
      expect(await load(first)).toMatchObject({ startQueue: 't', availableAt: NOW, fence: 0 })
      expect(await store().in(NS).heldBefore(second)).toBe(1)
      const [claimed] = await claim(NOW)
      expect(claimed).toMatchObject({ id: first.id, waitingFor: { kind: 'throttle' } })
      expect(claimed).toMatchObject({ startQueue: 't' })
      expect(await store().in(NS).heldBefore(second)).toBe(0)
    })

    it('answers whether the first run is ahead of one, and how many are before one', async () => {
      const [low, high] = (await aged(-1, 2)) as [Run, Run]
      const [middle, urgent, elsewhere] = [aRun(), aRun({ priority: 3 }), aRun({ runner: 'other' })]
      await queued(middle, urgent, elsewhere)
      const isBehind = (run: Run) => store().in(NS).isBehindStartQueue('t', run)
      for (const [run, behind] of [
        [low, true],
        [high, false],
        [middle, true],
        [urgent, false],
        [elsewhere, false],
      ] as const)
        expect(await isBehind(run)).toBe(behind)
      expect(await store().in(NS).heldBefore(low)).toBe(1)
    })

    it('answers how many runs are before each of some, of several queues; one that has left its queue has no place', async () => {
      const [low, first, second, high] = (await aged(-1, undefined, undefined, 2)) as [Run, Run, Run, Run]
      const waits = { waitingFor: { kind: 'concurrency' as const }, startQueue: undefined }
      const inOther = inQueue({ ...waits, waitsForSlot: 's' })
      const alone = inQueue({ startQueue: 'u' })
      await queued(inQueue({ ...waits, waitsForSlot: 's', createdAt: NOW - 1 }), inOther, alone)
      await write(store(), { type: 'startQueue.woken', id: 't', count: 1, at: NOW })
      await claim(NOW)
      const places = await store().in(NS).heldBeforeEach([low, second, first, high, inOther, alone, aRun()])
      const known = [low, second, first, inOther, alone].map(({ id }) => [id, places.get(id)?.count])
      expect(known).toEqual([
        [low.id, 2],
        [second.id, 1],
        [first.id, 0],
        [inOther.id, 1],
        [alone.id, 0],
      ])
      expect(places.size).toBe(known.length)
    })

    it('is claimed in its order when many runs are due at once', async () => {
      const runs = await aged(undefined, 3, undefined, 7)
      await wake(NOW, STARTS_WOKEN_MAX)
      const claimed = (await claim(NOW)).map(({ id }) => runs.findIndex(run => run.id === id))
      expect(claimed).toEqual([3, 1, 0, 2])
    })

    it('wakes the next run when the claimed one must wait for a slot, and loses its place to it', async () => {
      const slots = [{ id: 's', limit: 1 }]
      const held = inQueue({ availableAt: NOW }, { slots })
      const next = inQueue({ createdAt: NOW + 1 })
      await queued(aLeasedRun({ holds: { slots } }), held, next)
      expect((await claim(NOW)).map(({ id }) => id)).toEqual([next.id])
      const waitingForSlot = { waitsForSlot: 's', startQueue: undefined, waitingFor: { kind: 'concurrency' } }
      expect(await load(held)).toMatchObject(waitingForSlot)
    })

    it('wakes no run when a new run must wait for a slot', async () => {
      const slots = [{ id: 's', limit: 1 }]
      const fresh = aRun({ holds: { slots, throttle } })
      const next = inQueue()
      await queued(aLeasedRun({ holds: { slots } }), fresh, next)
      expect(await claim(NOW)).toEqual([])
      expect(await availableAt([next])).toEqual([undefined])
    })

    it('loses a run that is leased with its slot', async () => {
      const slots = [{ id: 's', limit: 1 }]
      await queued(inQueue({ availableAt: NOW }, { slots }))
      const [claimed] = await claim(NOW)
      expect(claimed?.startQueue).toBeUndefined()
      const other = aRun({ holds: { slots }, createdAt: NOW + 1 })
      await queued(other)
      expect(await claim(NOW + 1)).toEqual([])
      expect((await load(other)).waitsForSlot).toBe('s')
    })

    it('stays as it is when the leases of others are released', async () => {
      const [run] = (await aged(undefined)) as [Run]
      await store().releaseOthers('engine-2', NOW + 1)
      expect(await load(run)).toEqual(run)
    })
  })
}
