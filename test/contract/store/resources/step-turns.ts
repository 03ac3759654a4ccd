// The store contract: turns of steps at a limit, as SQL statements grant them (docs/steps.md#limits-that-steps-share).

import { beforeEach, describe, expect, it } from 'vitest'
import { poolOf } from '../../../../packages/engine/src/domain/holds/turns.ts'
import type { Change } from '../../../../packages/engine/src/domain/model/change.ts'
import type { Run } from '../../../../packages/engine/src/domain/model/run.ts'
import { aParkedRun, aWait, created, eachStore, NOW, NS, type OpenStore, write } from '../samples.ts'

const PERIOD = 1000

export function stepTurnsContract(open: OpenStore): void {
  describe('turns of steps', () => {
    const store = eachStore(open)
    const limit = { name: 'openai', key: 'eu' }
    const pool = poolOf({ namespace: NS, app: 'shop' }, limit)
    const granted = (at: number): Change => ({ type: 'turns.granted', poolId: pool.id, at })
    const register = (starts: number, at: number): Change => ({
      ...{ type: 'limits.registered', namespace: NS, app: 'shop', dropped: [], at },
      limits: [{ namespace: NS, app: 'shop', name: 'openai', limit: starts, periodMs: PERIOD }],
    })
    const pools = (now: number) => store().in(NS).turnPools({ now, limit: 10 })
    /** When the pool is due next. */
    const dueAt = async () => (await store().flowRow(pool.id))?.availableAt
    const rowOf = async ({ id }: Run) => (await store().loadRun(id))?.steps[0]

    beforeEach(() => write(store(), [register(1, NOW)]))

    /** A run that is parked at the limit. */
    async function asks(at: number): Promise<Run> {
      const run = aParkedRun({ waitingFor: { kind: 'limit' }, availableAt: undefined })
      const step = aWait(run, { op: 'StepRun', eventName: undefined, limit })
      const asked: Change = { type: 'turn.asked', pool, runId: run.id, stepIndex: 0, at }
      await write(store(), created(run, step), [asked, granted(at)])
      return run
    }
    const started = (run: Run, startedAt: number, at: number) =>
      write(store(), [{ type: 'turn.started', runId: run.id, stepIndex: 0, startedAt }, granted(at)])

    it('are granted in the order of the steps, a period after the start that came first', async () => {
      const [first, second, third] = [await asks(NOW), await asks(NOW), await asks(NOW + 1)]
      expect([await rowOf(first), await rowOf(second)].map(step => step?.turnAt)).toEqual([NOW, undefined])
      const loaded = await store().loadRun(first.id)
      expect(loaded?.run).toMatchObject({ availableAt: NOW, fence: first.fence + 1 })
      // Nothing is due until the start of the first step is known.
      expect(await dueAt()).toBeUndefined()
      await started(first, NOW + 5, NOW + 9)
      expect(await dueAt()).toBe(NOW + 5 + PERIOD)
      await write(store(), [granted(NOW + 4 + PERIOD)])
      expect((await rowOf(second))?.turnAt).toBeUndefined()
      await write(store(), [granted(NOW + 5 + PERIOD)])
      expect((await rowOf(second))?.turnAt).toBe(NOW + 5 + PERIOD)
      expect(
        await store()
          .in(NS)
          .turnPools({ now: NOW, step: { runId: third.id, index: 0 }, limit: 1 }),
      ).toMatchObject([
        { name: 'openai', key: 'eu', registered: { limit: 1, periodMs: PERIOD }, taken: 1, waiting: 1, ahead: 0 },
      ])
    })

    it('pass over a paused run, which keeps its place, and are free when a step leaves', async () => {
      const [first, paused, third] = [await asks(NOW), await asks(NOW), await asks(NOW)]
      await write(store(), [{ type: 'turns.held', runId: paused.id, isHeld: true }])
      await write(store(), [{ type: 'turn.left', runId: first.id, stepIndex: 0 }, granted(NOW + 1)])
      expect((await rowOf(third))?.turnAt).toBe(NOW + 1)
      await write(store(), [{ type: 'turns.held', runId: paused.id, isHeld: false }])
      const fourth = await asks(NOW + 2)
      await write(store(), [{ type: 'turn.left', runId: third.id, stepIndex: 0 }, granted(NOW + 3)])
      expect([await rowOf(paused), await rowOf(fourth)].map(step => step?.turnAt)).toEqual([NOW + 3, undefined])
    })

    it('follow another limit once it is registered: its pools are due', async () => {
      const waiting = [await asks(NOW), await asks(NOW), await asks(NOW)]
      await write(store(), [register(2, NOW + 7)])
      expect(await dueAt()).toBe(NOW + 7)
      await write(store(), [granted(NOW + 7)])
      expect((await Promise.all(waiting.map(rowOf))).map(step => step?.turnAt)).toEqual([NOW, NOW + 7, undefined])
    })

    it('are removed with their pool when none counts and nothing waits', async () => {
      const run = await asks(NOW)
      await started(run, NOW, NOW)
      const prune = (before: number) => store().prune({ rows: 'claims', before, limit: 10 })
      expect(await prune(NOW + PERIOD - 1)).toBe(0)
      expect(await pools(NOW)).toHaveLength(1)
      while ((await prune(NOW + PERIOD)) > 0);
      expect(await pools(NOW)).toEqual([])
      // A step that requests a turn again finds an empty pool.
      expect((await rowOf(await asks(NOW + 1)))?.turnAt).toBe(NOW + 1)
    })
  })
}
