import { expect, test } from 'vitest'
import { keyOf, nextStarts, serversOf } from './served.ts'

const bill = keyOf({ app: 'shop', name: 'bill' })

test('the soonest instant counts of a workflow with several schedules; schedules that send events start none by name', () => {
  const next = nextStarts([
    { app: 'shop', workflow: 'bill', next: ['2026-01-02T00:00:00Z', '2026-01-03T00:00:00Z'] },
    { app: 'shop', workflow: 'bill', next: ['2026-01-01T00:00:00Z'] },
    { app: 'shop', workflow: 'paused', next: [] },
    { next: ['2026-01-01T00:00:00Z'] },
  ])
  expect([...next]).toEqual([[bill, '2026-01-01T00:00:00Z']])
})

test('live runners serve a workflow, those of another app or without a sign of life do not', () => {
  const one = { app: 'shop', live: true, workflows: [{ name: 'bill' }, { name: 'ship' }] }
  const servers = serversOf([
    { ...one, runnerId: 'a' },
    { ...one, runnerId: 'b', workflows: [{ name: 'bill' }] },
    { ...one, runnerId: 'silent', live: false },
    { ...one, runnerId: 'other', app: 'depot' },
  ])
  expect(servers.get(bill)).toEqual(['a', 'b'])
  expect(servers.get(keyOf({ app: 'shop', name: 'ship' }))).toEqual(['a'])
})
