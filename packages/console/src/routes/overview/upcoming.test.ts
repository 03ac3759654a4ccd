import { expect, test } from 'vitest'
import { nextFires } from './upcoming.ts'

const minutes = (...all: number[]) => all.map(minute => new Date(Date.UTC(2026, 0, 1, 0, minute)).toISOString())

test('the instants of all schedules are merged, and one that fires often has several', () => {
  const schedules = [
    { id: 'often', workflow: 'sync', next: minutes(1, 2, 3, 4, 5) },
    { id: 'nightly', event: { name: 'night' }, next: minutes(3, 63) },
    { id: 'never', next: [] },
  ] as unknown as Parameters<typeof nextFires>[0]
  expect(nextFires(schedules, 5).map(({ name, at }) => [name, at])).toEqual(
    ['sync', 'sync', 'sync', 'night', 'sync'].map((name, i) => [name, minutes(1, 2, 3, 3, 4)[i]]),
  )
  expect(new Set(nextFires(schedules, 5).map(({ id }) => id)).size).toBe(5)
  expect(nextFires([], 5)).toEqual([])
})
