// Budgets: their sums, their limits, the runs that wait for them, and their removal (docs/budgets.md).

import { describe, expect, it } from 'vitest'
import type { Run } from '../../../../packages/engine/src/domain/model/run.ts'
import { aRun, created, eachStore, holds, moved, NOW, NS, type OpenStore, write } from '../samples.ts'

const DAY = 86_400_000

/** A run that begins a budget. */
const aRoot = (limits: Record<string, number>, fields: Partial<Run> = {}): Run => {
  const run = aRun(fields)
  return { ...run, budgets: [{ id: run.id, limits }] }
}
const endedAt = (finishedAt: number): Partial<Run> => ({
  status: 'succeeded',
  startedAt: NOW,
  startedSeq: 2,
  finishedAt,
  finishedSeq: 1_000_010,
  fence: 1,
  availableAt: undefined,
})
const spent = (budgetIds: string[], name: string, whole: number, billionths = 0) =>
  ({ type: 'budget.spent', budgetIds, sums: { [name]: { whole, billionths } } }) as const
const limited = (budgetId: string, limits: Record<string, number | null>) =>
  ({ type: 'budget.limited', budgetId, limits }) as const

export function budgetsContract(open: OpenStore): void {
  describe('budgets', () => {
    const store = eachStore(open)
    const lines = async (...ids: string[]) =>
      (await store().budgets(ids)).map(({ name, limit, whole, billionths }) => ({ name, limit, whole, billionths }))
    const names = async (id: string) => (await lines(id)).map(({ name }) => name)

    it('begin with their run, add what is spent exactly, and leave out names that have no limit', async () => {
      const root = aRoot({ usd: 1.5 })
      const child = aRun({ budgets: [{ id: root.id }] })
      await write(store(), created(root), created(child))
      const nearlyOne = { whole: 0, billionths: 999_999_999 }
      await write(
        store(),
        { type: 'budget.spent', budgetIds: [root.id], sums: { usd: nearlyOne, other: nearlyOne } },
        spent([root.id], 'usd', 2 ** 31, 2),
        spent([root.id, 'run_none'], 'steps', 3),
      )
      expect(await lines(root.id)).toEqual([
        { name: 'runs', limit: undefined, whole: 2, billionths: 0 },
        { name: 'steps', limit: undefined, whole: 3, billionths: 0 },
        { name: 'usd', limit: 1.5, whole: 2 ** 31 + 1, billionths: 1 },
      ])
    })

    it('get new limits under a new revision, which a pause rests on; a name that is new begins at 0', async () => {
      const root = aRoot({ usd: 1 })
      await write(store(), created(root), spent([root.id], 'usd', 5))
      const revision = async () => (await store().budgets([root.id])).find(({ name }) => name === 'usd')?.revision
      const guard = { type: 'limit', budgetId: root.id, name: 'usd', revision: (await revision()) as number } as const
      expect(await holds(store(), guard)).toBe(true)
      await write(store(), limited(root.id, { usd: null, tokens: 9 }), limited('run_none', { usd: 1 }))
      expect(await holds(store(), guard)).toBe(false)
      expect((await lines(root.id)).slice(2)).toEqual([
        { name: 'tokens', limit: 9, whole: 0, billionths: 0 },
        { name: 'usd', limit: undefined, whole: 5, billionths: 0 },
      ])
      expect(await lines('run_none')).toEqual([])
    })

    it('list the runs that wait for them, some at a time', async () => {
      const root = aRoot({ usd: 1 })
      const waits = (budgetId: string): Partial<Run> => ({
        status: 'paused',
        availableAt: undefined,
        waitingFor: { kind: 'budget', name: 'usd', limit: 1, spent: 2, runId: budgetId, budgetId },
      })
      const paused = [1, 2, 3].map(() => aRun(waits(root.id))).sort((a, b) => (a.id < b.id ? -1 : 1))
      const others = [aRun(waits('run_another')), aRun({ status: 'paused', availableAt: undefined })]
      await write(
        store(),
        created(root),
        [...paused, ...others].flatMap(run => created(run)),
      )
      const found = async (after: string) => store().waitingForBudget({ budgetId: root.id, after, limit: 2 })
      const ids = paused.map(({ id }) => id)
      expect([await found(''), await found(ids[1] as string)]).toEqual([ids.slice(0, 2), ids.slice(2)])
      const { waitingFor: _, ...resumed } = paused[0] as Run
      await write(store(), moved(resumed, { status: 'queued', availableAt: NOW }))
      expect(await found('')).toEqual(ids.slice(1))
    })

    it('go when retention removes their run, and stay while their chain has a run', async () => {
      const old = aRoot({ usd: 1 }, endedAt(NOW - 9 * DAY))
      const first = aRoot({ usd: 1 }, endedAt(NOW - 9 * DAY))
      const child = aRun({ ...endedAt(NOW - 9 * DAY), budgets: [{ id: first.id }] })
      const link = aRun({
        ...endedAt(NOW - 5 * DAY),
        chainId: first.id,
        continuedFrom: first.id,
        budgets: [{ id: first.id }],
      })
      const kept = aRoot({ usd: 1 }, endedAt(NOW))
      await write(
        store(),
        created(old),
        created({ ...first, continuedAs: link.id }),
        created(child),
        created(link),
        created(kept),
      )
      const prune = (before: number) => store().prune({ rows: 'runs.succeeded', before, limit: 200 })
      expect(await prune(NOW - 7 * DAY)).toBe(3)
      expect(await names(old.id)).toEqual([])
      expect(await names(first.id)).toEqual(['runs', 'steps', 'usd'])
      expect(await prune(NOW - DAY)).toBe(1)
      expect(await names(first.id)).toEqual([])
      expect(await names(kept.id)).toEqual(['runs', 'steps', 'usd'])
    })

    it('go with the run of a workflow with a retention, and with an erased one', async () => {
      const [old, erased] = [aRoot({ usd: 1 }), aRoot({ usd: 1 }, endedAt(NOW))]
      await write(store(), created(old), created(erased))
      await write(store(), moved(old, endedAt(NOW)), { type: 'run.kept', runId: old.id, until: NOW + 1 })
      const erasing = { namespace: NS, budgetId: erased.id, eventIds: [], at: NOW }
      await write(store(), { type: 'run.erased', runId: erased.id, ...erasing })
      expect(await store().prune({ rows: 'runs.ofWorkflow', before: NOW + 2, limit: 9 })).toBe(1)
      expect([await names(old.id), await names(erased.id)]).toEqual([[], []])
    })
  })
}
