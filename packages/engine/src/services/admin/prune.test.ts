// When rows are removed: once a minute, a batch at a time, until none is left or the pruner stops.

import { pino } from 'pino'
import { expect, test } from 'vitest'
import type { Pruning } from '../../ports/store.ts'
import { Pruner } from './prune.ts'

const NOW = 1_764_000_000_000
const MINUTE = 60_000

/** A clock whose timers fire when the test says so, and a store with this many rows of each kind. */
function setUp(rows: Partial<Record<Pruning['rows'], number>>, fails = () => false) {
  const timers: { at: number; fn: () => void }[] = []
  const clock = {
    time: NOW,
    now: () => clock.time,
    elapsed: () => clock.time,
    after: (ms: number, fn: () => void) => clock.at(clock.time + ms, fn),
    at: (at: number, fn: () => void) => {
      const timer = { at, fn }
      timers.push(timer)
      return () => void timers.splice(timers.indexOf(timer), timers.includes(timer) ? 1 : 0)
    },
  }
  const calls: Pruning[] = []
  const store = {
    prune: async (pruning: Pruning) => {
      if (fails()) throw new Error('the disk is full')
      calls.push(pruning)
      const left = rows[pruning.rows] ?? 0
      const removed = Math.min(left, pruning.limit)
      rows[pruning.rows] = left - removed
      return removed
    },
  }
  const lines: string[] = []
  const log = pino({ level: 'error' }, { write: (line: string) => void lines.push(line) })
  const pruner = new Pruner({ store, clock, log, retention: { succeeded: 1000 } })
  /** Advances time until `isDone`, and fires the timers that fall due. */
  const pass = async (ms: number) => {
    const end = clock.time + ms
    for (;;) {
      for (let i = 0; i < 20; i++) await undefined
      const due = timers.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0]
      if (!due) break
      timers.splice(timers.indexOf(due), 1)
      clock.time = Math.max(clock.time, due.at)
      due.fn()
    }
    clock.time = end
  }
  return { pruner, calls, pass, rows, lines, timers }
}

test('nothing is removed in the first minute, then all expired rows, 50 runs at a time with pauses', async () => {
  const { pruner, calls, pass, rows } = setUp({ 'runs.succeeded': 450, dedupes: 1 })
  pruner.start()
  await pass(MINUTE - 1)
  expect(calls).toEqual([])
  await pass(1000)
  expect(rows).toMatchObject({ 'runs.succeeded': 0, dedupes: 0 })
  expect(calls.find(each => each.rows === 'dedupes')?.limit).toBe(200)
  const runs = calls.filter(each => each.rows === 'runs.succeeded')
  expect(runs.map(({ limit }) => limit)).toEqual(Array(10).fill(50))
  expect(runs[0]?.before).toBe(NOW + MINUTE - 1000)
  expect(calls.some(each => each.rows === 'runs.failed')).toBe(false)
  await pruner.stop()
})

test('a series of failures is logged once, and the next run continues', async () => {
  let failing = true
  const { pruner, pass, lines, rows } = setUp({ events: 3 }, () => failing)
  pruner.start()
  await pass(3 * MINUTE)
  expect(lines).toHaveLength(1)
  expect(lines[0]).toContain('could not be removed')
  failing = false
  await pass(2 * MINUTE)
  expect(rows.events).toBe(0)
  await pruner.stop()
})

test('when stopped in the middle it removes no further batch and leaves no timer', async () => {
  const { pruner, pass, rows, timers } = setUp({ 'runs.succeeded': 10_000 })
  pruner.start()
  await pass(MINUTE + 50)
  const left = rows['runs.succeeded'] as number
  expect(left).toBeGreaterThan(0)
  expect(left).toBeLessThan(10_000)
  await pruner.stop()
  expect(timers).toEqual([])
  await pass(MINUTE)
  expect(rows['runs.succeeded']).toBe(left)
})
