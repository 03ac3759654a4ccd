import { expect, test } from 'vitest'
import { Coalescer } from './coalescer.ts'

test('of each run, event and delivery the newest frame is kept', () => {
  const coalescer = new Coalescer()
  expect(coalescer.take(false)).toBeUndefined()
  for (let i = 0; i < 2000; i++) coalescer.add({ kind: 'run_status', runId: `run_${i % 200}`, seq: i })
  for (const id of ['evt_1', 'evt_2', 'evt_1']) coalescer.add({ kind: 'event', id })
  const { batch, dropped } = coalescer.take(false) ?? {}
  expect(batch).toMatchObject({ count: 2003, isSampled: false })
  expect(batch?.frames).toHaveLength(202)
  expect(Math.min(...(batch?.frames.slice(0, 200) ?? []).map(({ seq = 0 }) => seq))).toBe(1800)
  expect(dropped).toBe(0)
  expect(coalescer.take(false)).toBeUndefined()
})

test('an older frame of the connection before does not replace a newer one', () => {
  const coalescer = new Coalescer()
  for (const seq of [7, 5]) coalescer.add({ kind: 'run_status', runId: 'run_1', seq })
  expect(coalescer.take(false)?.batch.frames).toEqual([{ kind: 'run_status', runId: 'run_1', seq: 7 }])
})

test('a flush has a bound, and says what it left out', () => {
  const coalescer = new Coalescer()
  for (let i = 0; i < 12_000; i++) coalescer.add({ kind: 'run_status', runId: `run_${i}` })
  const { batch, dropped } = coalescer.take(false) ?? {}
  expect([batch?.frames.length, batch?.count, dropped]).toEqual([5000, 12_000, 7000])
})

test('sampled frames carry a status alone', () => {
  const coalescer = new Coalescer()
  coalescer.add({ kind: 'run_status', runId: 'run_1', seq: 2, status: 'running', app: 'a', workflow: 'w', attempt: 2 })
  expect(coalescer.take(true)?.batch).toEqual({
    frames: [{ kind: 'run_status', runId: 'run_1', seq: 2, status: 'running', app: 'a', workflow: 'w' }],
    count: 1,
    isSampled: true,
  })
})
