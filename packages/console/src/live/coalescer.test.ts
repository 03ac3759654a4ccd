import { expect, test } from 'vitest'
import { Coalescer } from './coalescer.ts'

test('of each run the newest status is kept, and all other frames in order', () => {
  const coalescer = new Coalescer()
  expect(coalescer.take()).toBeUndefined()
  for (let i = 0; i < 2000; i++) coalescer.add({ kind: 'run_status', runId: `run_${i % 200}`, seq: i })
  coalescer.add({ kind: 'log', runId: 'run_1', seq: 1 })
  coalescer.add({ kind: 'log', runId: 'run_1', seq: 2 })
  const batch = coalescer.take()
  expect(batch).toMatchObject({ count: 2002, dropped: 0 })
  expect(batch?.frames).toHaveLength(202)
  expect(batch?.frames.slice(0, 2).map(({ seq }) => seq)).toEqual([1, 2])
  expect(Math.min(...(batch?.frames.slice(2) ?? []).map(({ seq = 0 }) => seq))).toBe(1800)
  expect(coalescer.take()).toBeUndefined()
})

test('a flush has a bound, and says what it left out', () => {
  const coalescer = new Coalescer()
  for (let i = 0; i < 10_000; i++) coalescer.add({ kind: 'run_status', runId: `run_${i}` })
  for (let i = 0; i < 10_000; i++) coalescer.add({ kind: 'event' })
  expect(coalescer.take()).toMatchObject({ count: 20_000, dropped: 13_000 })
})
