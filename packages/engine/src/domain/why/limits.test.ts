import { expect, test } from 'vitest'
import { type LimitedRun, type LimitRows, limitsOf } from './limits.ts'

const NOW = 3_600_000

const holder = (id: string): LimitedRun => ({
  ...{ namespace: 'default', id, app: 'shop', workflow: 'w', status: 'running', leaseOwner: 'engine-1' },
  holds: {
    slots: [
      { id: 's1', limit: 20 },
      { id: 's2', limit: 1, key: 'k' },
    ],
  },
})
const rows = (fields: Partial<LimitRows>): LimitRows => ({
  ...{ holders: [], forSlots: [], forStarts: [], ends: [], isPart: { forSlots: false, forStarts: false } },
  ...fields,
})

test('a run counts for each of its slots, and ten holders are named', () => {
  const ids = Array.from({ length: 12 }, (_, i) => `run_${i}`)
  const limits = limitsOf(rows({ holders: ids.map(holder) }), { now: NOW, workflowOf: () => undefined })
  expect(limits.map(limit => limit.kind === 'concurrency' && [limit.held, limit.holders.length])).toEqual([
    [12, 10],
    [12, 10],
  ])
})

test('the limit with the most waiting runs is first, also one that nobody holds', () => {
  const waiting = { id: 's2', waiting: 3, oldestAt: 5, sample: holder('run_9') }
  const limits = limitsOf(rows({ holders: [holder('run_1')], forSlots: [waiting] }), {
    now: NOW,
    workflowOf: () => undefined,
  })
  expect(limits).toMatchObject([
    { key: 'k', limit: 1, waiting: 3, oldestAt: 5, held: 1 },
    { limit: 20, waiting: 0, held: 1 },
  ])
})

test('places are released as quickly as runs with them end: in the window, or in the time that is known', () => {
  const all = { bySlot: new Map([['s1', 5]]) }
  const newest = { bySlot: new Map([['s1', 100]]), oldestAt: NOW - 30_000 }
  const [first, second] = limitsOf(rows({ holders: [holder('run_1')], ends: [all, newest] }), {
    now: NOW,
    workflowOf: () => undefined,
  })
  expect([first, second]).toMatchObject([{ releasedPerMin: 200.5 }, { releasedPerMin: 0 }])
})
