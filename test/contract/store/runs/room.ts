// Claims of runs that depend on room: apps and destinations whose runners are full, the engine's permits, and fairness between
// namespaces.

import { describe, expect, it } from 'vitest'
import { appKey, type Run, runDestination } from '../../../../packages/engine/src/domain/model/run.ts'
import type { LeftRun, RunClaim } from '../../../../packages/engine/src/ports/store.ts'
import { aLeasedRun, aParkedRun, aRun, created, eachStore, moved, NOW, type OpenStore, write } from '../samples.ts'

export function roomContract(open: OpenStore): void {
  describe('claims of runs as far as there is room', () => {
    const store = eachStore(open)
    const claim = async (fields: Partial<RunClaim> = {}) => {
      const claimed = await store().claimRuns({
        owner: 'us',
        now: NOW,
        leaseUntil: NOW + 15_000,
        limit: 100,
        ...fields,
      })
      return claimed.map(({ run }) => run)
    }
    const add = async (count: number, fields: Partial<Run> = {}) => {
      const runs = Array.from({ length: count }, () => aRun(fields))
      await write(store(), ...runs.map(run => created(run)))
      return runs
    }
    const ids = (runs: readonly Run[]) => runs.map(({ id }) => id)
    const shop = (room: number) => ({ appRoom: new Map([[appKey({ namespace: 'default', app: 'shop' }), room]]) })

    it('takes of an app as many as there is room for, of the highest priority first, and leaves the others due', async () => {
      const [low] = await add(1, { priority: -1 })
      const runs = await add(2)
      const [high] = await add(1, { priority: 5, availableAt: NOW - 1 })
      const others = await add(2, { app: 'mail' })
      expect(ids(await claim(shop(2))).sort()).toEqual(ids([high as Run, runs[0] as Run, ...others]).sort())
      expect(await claim(shop(0))).toEqual([])
      expect(ids(await claim(shop(9)))).toEqual(ids([runs[1] as Run, low as Run]))
    })

    it('finds the runs of others behind any number of runs without room', async () => {
      await add(500, { availableAt: NOW - 5000 })
      await add(100, { availableAt: NOW - 5000, priority: 9 })
      const mail = await add(3, { app: 'mail' })
      expect(ids(await claim(shop(0))).sort()).toEqual(ids(mail).sort())
      expect(await claim({ ...shop(1), limit: 5 })).toMatchObject([{ priority: 9 }])
    })

    it('keeps the order of priorities, also of many and below zero, beyond what one look finds', async () => {
      const priorities = [...Array(90).fill(-2), ...Array(90).fill(undefined), ...Array(90).fill(3), 7, 8]
      const runs = priorities.map(priority => aRun(priority === undefined ? {} : { priority }))
      await write(store(), ...runs.map(run => created(run)))
      const taken: number[] = []
      while (taken.length < priorities.length) {
        const some = await claim({ limit: 40 })
        taken.push(...some.map(({ priority = 0 }) => priority))
        expect(some.length).toBeGreaterThan(0)
      }
      expect(taken).toEqual(priorities.map(priority => priority ?? 0).sort((one, other) => other - one))
    })

    it('takes no run of a destination that is full, and others of its app', async () => {
      const pinned = await add(70, { runner: 'r1', availableAt: NOW - 9 })
      const free = await add(1)
      const full = new Set([runDestination(pinned[0] as Run)])
      expect(ids(await claim({ full }))).toEqual(ids(free))
      expect(await claim()).toHaveLength(70)
    })

    it('takes one large run, small ones past those that stay due, and says how large these are', async () => {
      const add = async (id: string, chars: number) => {
        const run = aRun({ id: `run_${id}`, availableAt: NOW - 9, input: JSON.stringify('x'.repeat(chars - 2)) })
        await write(store(), created(run))
        return run
      }
      const large = [await add('a', 5000), await add('b', 6000), await add('c', 1000)]
      const small = [await add('d', 90), await add('e', 10)]
      let left: readonly LeftRun[] = []
      const memory = { max: 6400, tiny: 0, small: 0, large: 0, largeCount: 0 }
      const onLeft = (runs: readonly LeftRun[]) => {
        left = runs
      }
      expect(ids(await claim({ memory, onLeft }))).toEqual(ids([large[0] as Run, ...small]))
      expect(left).toEqual([
        { id: 'run_b', bytes: 6000 },
        { id: 'run_c', bytes: 1000 },
      ])
      expect(await claim({ memory: { ...memory, large: 1000, largeCount: 1 }, limit: 1 })).toEqual([])
      expect(ids(await claim({ memory, limit: 1 }))).toEqual(ids([large[1] as Run]))
    })

    it('gives the memory of a run that is held for a slot to the next', async () => {
      const slots = [{ id: 's', limit: 1 }]
      const input = JSON.stringify('x'.repeat(5000))
      const held = aRun({ holds: { slots }, availableAt: NOW - 9, input })
      const next = aRun({ availableAt: NOW - 5, input })
      const leased = aLeasedRun({ holds: { slots } })
      await write(store(), ...[leased, held, next].map(run => created(run)))
      let left: readonly LeftRun[] = []
      const memory = { max: 6400, tiny: 0, small: 0, large: 0, largeCount: 0 }
      const onLeft = (runs: readonly LeftRun[]) => {
        left = runs
      }
      expect(ids(await claim({ memory, onLeft }))).toEqual([next.id])
      expect(left).toEqual([])
    })

    it('takes turns among namespaces, whatever their priorities', async () => {
      const loud = await add(300, { namespace: 'loud', priority: 1_000_000, availableAt: NOW - 5000 })
      const quiet = await add(3, { namespace: 'quiet' })
      const claimed = await claim({ limit: 10 })
      expect(claimed.filter(({ namespace }) => namespace === 'quiet').map(({ id }) => id)).toEqual(ids(quiet))
      expect(claimed.filter(({ namespace }) => namespace === 'loud')).toHaveLength(7)
      expect(await claim({ limit: 500 })).toHaveLength(loud.length - 7)
    })

    it('shares permits of the engine: a namespace that holds all of them gets none while another one waits', async () => {
      await add(80, { namespace: 'loud', availableAt: NOW - 5000 })
      const quiet = await add(2, { namespace: 'quiet' })
      const permits = { max: 10, taken: [{ namespace: 'loud', app: 'shop', taken: 10 }] }
      expect(ids(await claim({ permits })).sort()).toEqual(ids(quiet))
      expect(await claim({ permits: { max: 10, taken: [{ namespace: 'loud', app: 'shop', taken: 4 }] } })).toHaveLength(
        6,
      )
    })

    it('takes runs that only end or settle their timers, although there is no room', async () => {
      const timesOut = await add(1, { holds: { queueTimeoutMs: 1000 }, createdAt: NOW - 1000 })
      const paused = await add(1, { status: 'paused' })
      const [cancelled] = (await add(1)) as [Run]
      await add(70, { availableAt: NOW - 5000 })
      const early = await add(1, { holds: { queueTimeoutMs: 1000 }, createdAt: NOW - 5 })
      await write(store(), { type: 'run.cancelRequested', runId: cancelled.id, at: NOW })
      expect(await store().nextAvailableAt('runs', NOW)).toBe(NOW + 995)
      expect(ids(await claim(shop(0))).sort()).toEqual(ids([...timesOut, ...paused, cancelled]).sort())
      expect(ids(await claim({ ...shop(0), now: NOW + 995 }))).toEqual(ids(early))
    })

    it('takes a run whose lease ran out when there is room for it', async () => {
      const [run] = await add(1, { status: 'running', leaseOwner: 'gone', startedAt: NOW, startedSeq: 2 })
      expect(await claim(shop(0))).toEqual([])
      expect(ids(await claim(shop(1)))).toEqual([run?.id])
    })

    it('a run that has parked or ended is in no way', async () => {
      const runs = await add(2)
      await write(
        store(),
        moved(runs[0] as Run, { status: 'cancelled', availableAt: undefined, finishedAt: NOW, finishedSeq: 9 }),
      )
      await write(store(), created(aParkedRun()))
      expect(ids(await claim(shop(5)))).toEqual([runs[1]?.id])
    })
  })
}
