// Which callbacks a pass reports to the engine, and when. The clock is the test's.

import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { RunningSteps } from './running-steps.ts'
import type { StepId } from './step-ids.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

function running() {
  const told: unknown[] = []
  const tell = (fields: string) => void told.push(JSON.parse(`{${fields.slice(1)}}`).running)
  const callbacks = new Map<string, { id: StepId; startedAt: number }>()
  const steps = new RunningSteps({ afterMs: 500, tell }, () => [...callbacks.values()])
  const began = (name: string) => {
    callbacks.set(name, { id: { name, use: 0, hashedId: `id of ${name}` }, startedAt: performance.now() })
    steps.watch()
  }
  return { told, steps, began, ended: (name: string) => callbacks.delete(name) }
}

test('callbacks that end soon are not told', () => {
  const { told, steps, began, ended } = running()
  for (let i = 0; i < 10; i++) {
    began('a')
    vi.advanceTimersByTime(400)
    ended('a')
  }
  steps.stop()
  vi.advanceTimersByTime(10_000)
  expect(told).toEqual([])
  expect(vi.getTimerCount()).toBe(0)
})

test('one that goes on is told once, with all others that run; a later one in its time', () => {
  const { told, steps, began, ended } = running()
  began('a')
  vi.advanceTimersByTime(300)
  began('b')
  vi.advanceTimersByTime(200)
  const a = { id: 'id of a', name: 'a', startedMs: 500 }
  const b = { id: 'id of b', name: 'b', startedMs: 200 }
  expect(told).toEqual([[a, b]])
  vi.advanceTimersByTime(10_000)
  ended('a')
  began('c')
  vi.advanceTimersByTime(500)
  expect(told.slice(1)).toEqual([
    [
      { ...b, startedMs: 10_700 },
      { id: 'id of c', name: 'c', startedMs: 500 },
    ],
  ])
  vi.advanceTimersByTime(60_000)
  expect(told).toHaveLength(2)
  steps.stop()
})
