// Fairness keys in the queues of slots and of throttles: which run gets the next place.

import { describe, expect, it } from 'vitest'
import type { Run } from '../../../../packages/engine/src/domain/model/run.ts'
import { aRun, created, eachStore, moved, NOW, NS, type OpenStore, write } from '../samples.ts'

const SLOT = { id: 's', limit: 1 }
const THROTTLE = { id: 't', limit: 1, periodMs: 1000, burst: 0 }
let age = 0

function fair(key: string, fields: Partial<Run> & { weight?: number } = {}): Run {
  const { weight = 1, ...rest } = fields
  const createdAt = NOW - 1_000_000 + ++age
  return aRun({
    ...{ createdAt, availableAt: createdAt, workflow: key },
    holds: { slots: [SLOT], fairness: { key, weight } },
    ...rest,
  })
}

const many = <T>(count: number, make: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i))

export function turnsContract(open: OpenStore): void {
  describe('fairness keys', () => {
    const store = eachStore(open)
    const load = async (run: Run) => (await store().loadRun(run.id))?.run as Run
    let now = NOW

    async function claimed(): Promise<Run[]> {
      const claim = { owner: 'engine-1', now: ++now, leaseUntil: now + 15_000, limit: 100 }
      return (await store().claimRuns(claim)).map(({ run }) => run)
    }

    /** Lets all due runs join the queue. */
    async function settled(): Promise<Run[]> {
      const runs: Run[] = []
      for (let i = 0; i < 20; i++) runs.push(...(await claimed()))
      return runs
    }

    async function end({ id }: Run): Promise<void> {
      const { leaseOwner: _, availableAt: __, ...rest } = await load({ id } as Run)
      const ended = { ...rest, status: 'succeeded' as const, finishedAt: now, finishedSeq: 9, fence: rest.fence + 1 }
      await write(store(), moved(ended), { type: 'slots.freed', slotIds: ['s'], at: now })
    }

    /** The keys in the order in which their runs get the slot, one at a time. */
    async function served(first: Run, count: number): Promise<string[]> {
      const keys: string[] = []
      for (let run = first; keys.length < count; ) {
        await end(run)
        const next = await claimed()
        expect(next).toHaveLength(1)
        run = next[0] as Run
        keys.push(run.workflow)
      }
      return keys
    }

    async function holdAll(...runs: Run[]): Promise<Run> {
      const holder = fair('holder', { availableAt: 1 })
      await write(store(), created(holder))
      await claimed()
      for (let at = 0; at < runs.length; at += 200)
        await write(store(), ...runs.slice(at, at + 200).map(run => created(run)))
      await settled()
      return holder
    }

    it('take turns, whichever has more runs or came first', async () => {
      const holder = await holdAll(...many(6, () => fair('big')), ...many(2, () => fair('a')), fair('b'))
      expect((await served(holder, 9)).slice(0, 5).sort()).toEqual(['a', 'a', 'b', 'big', 'big'])
    })

    it('take as many turns as their weights say', async () => {
      const holder = await holdAll(...many(100, () => fair('one')), ...many(100, () => fair('three', { weight: 3 })))
      const keys = await served(holder, 100)
      const three = keys.filter(key => key === 'three').length
      expect(three).toBeGreaterThanOrEqual(74)
      expect(three).toBeLessThanOrEqual(76)
    })

    it('order their own runs by priority and then by the log, which counts for no other key', async () => {
      const [low, late] = [fair('a'), fair('a')]
      const high = fair('a', { priority: 5 })
      const other = [fair('b', { priority: -9 }), fair('b', { priority: -9 })]
      const holder = await holdAll(low, late, high, ...other)
      const ids: string[] = []
      for (let run = holder; ids.length < 5; ids.push(run.id)) {
        await end(run)
        run = (await claimed())[0] as Run
      }
      expect(ids.filter(id => !other.some(run => run.id === id))).toEqual([high.id, low.id, late.id])
      expect(ids.slice(0, 2).filter(id => other.some(run => run.id === id))).toHaveLength(1)
    })

    it('that come back bring no credit, and those with one run at a time get no more turns than the others', async () => {
      const holder = await holdAll(...many(20, () => fair('steady')), ...many(20, () => fair('other')))
      const keys: string[] = []
      let waiting = false
      for (let run = holder; keys.length < 30; keys.push(run.workflow)) {
        if (!waiting) await write(store(), created(fair('single')))
        waiting = true
        await claimed()
        await end(run)
        run = (await claimed())[0] as Run
        if (run.workflow === 'single') waiting = false
      }
      const turns = (key: string) => keys.filter(one => one === key).length
      expect([turns('single'), turns('steady'), turns('other')].sort()).toEqual([10, 10, 10])
    })

    it('are not overtaken by ever new keys', async () => {
      const holder = await holdAll(fair('z'), fair('y'))
      const keys: string[] = []
      for (let run = holder, n = 0; keys.length < 6; keys.push(run.workflow)) {
        await write(store(), created(fair(`a${n++}`)), created(fair(`b${n++}`)))
        await end(run)
        run = (await claimed())[0] as Run
        await settled()
      }
      expect(keys.slice(0, 3)).toEqual(expect.arrayContaining(['z', 'y']))
    })

    it('fill all places that become free at once', async () => {
      const wide = { holds: { slots: [{ ...SLOT, limit: 3 }], fairness: { key: 'k', weight: 1 } } }
      const holders = many(3, () => fair('k', { ...wide, availableAt: 1 }))
      await write(store(), ...holders.map(run => created(run)))
      expect(await claimed()).toHaveLength(3)
      await write(store(), ...many(9, () => created(fair('k', wide))))
      await settled()
      for (const run of holders) await end(run)
      expect(await settled()).toHaveLength(3)
    })

    it('share a slot with runs without a key, and come with them in the order of the log', async () => {
      const plain = () => fair('plain', { holds: { slots: [SLOT] } })
      const runs = [fair('a'), plain(), fair('b'), plain(), fair('a')]
      const holder = await holdAll(...runs)
      const keys = await served(holder, 5)
      expect(keys.filter(key => key === 'plain')).toHaveLength(2)
      expect(keys[0]).not.toBe('plain')
    })

    it('are shown the number of runs of their own key before them', async () => {
      const runs = [fair('a'), fair('b'), fair('a'), fair('b')] as [Run, Run, Run, Run]
      await holdAll(...runs)
      const held = await Promise.all(runs.map(load))
      expect(await Promise.all(held.map(run => store().in(NS).heldBefore(run)))).toEqual([0, 0, 1, 1])
      const each = await store().in(NS).heldBeforeEach(held)
      expect(runs.map(({ id }) => each.get(id)?.count)).toEqual([0, 0, 1, 1])
    })

    it('take turns in the start queue of a throttle, also when several starts are free at once', async () => {
      const queued = (key: string, weight = 1) =>
        fair(key, {
          workflow: 'order',
          availableAt: NOW + 1e9,
          startQueue: 't',
          waitingFor: { kind: 'throttle' },
          holds: { throttle: THROTTLE, fairness: { key, weight } },
        })
      const runs = [...many(6, () => queued('a')), ...many(4, () => queued('b')), queued('c')]
      await write(store(), ...runs.map(run => created(run)))
      for (const run of runs) await write(store(), moved({ ...run, fence: run.fence + 1 }))
      const keyOf = ({ holds }: Run) => holds?.fairness?.key
      const woken = async (count: number) => {
        await write(store(), { type: 'startQueue.woken', id: 't', count, at: NOW, byTurn: true })
        const loaded = await Promise.all(runs.map(load))
        return loaded.filter(({ availableAt, startedAt }) => availableAt === NOW && startedAt === undefined)
      }
      const [first, ...others] = (await woken(1)) as [Run, ...Run[]]
      expect([first.id, others]).toEqual([runs[0]?.id, []])
      const start = { status: 'running' as const, startedAt: NOW, startedSeq: 5, leaseOwner: 'engine-1' }
      const { startQueue: _, waitingFor: __, ...left } = first
      const run = { ...left, ...start, fence: first.fence + 1 }
      await write(store(), { type: 'run.moved', run, frames: [], started: true })
      expect((await woken(1)).map(keyOf)).toEqual(['b'])
      expect((await woken(4)).map(keyOf).sort()).toEqual(['a', 'b', 'b', 'c'])
      expect(
        await store()
          .in(NS)
          .isBehindStartQueue('t', await load(runs[6] as Run)),
      ).toBe(false)
      expect(
        await store()
          .in(NS)
          .isBehindStartQueue('t', await load(runs[7] as Run)),
      ).toBe(true)
      expect(
        await store()
          .in(NS)
          .isBehindStartQueue('t', await load(runs[1] as Run)),
      ).toBe(true)
    })
  })
}
