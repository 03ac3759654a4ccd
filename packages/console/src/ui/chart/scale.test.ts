// Scales of charts.

import { expect, test } from 'vitest'
import { markPlace, niceMax, placeOf } from './scale.ts'

test.each([
  [0, 1],
  [1, 1],
  [3, 5],
  [5, 5],
  [11, 20],
  [50.5, 100],
  [999, 1000],
])('the axis above %d ends at %d', (value, max) => expect(niceMax(value)).toBe(max))

test('a value stands at its share of the height', () => {
  expect([placeOf(0, 10, 80), placeOf(5, 10, 80), placeOf(10, 10, 80)]).toEqual([80, 40, 0])
})

test('a mark is at its share of the time, and outside the chart it is nowhere', () => {
  const points = ['2026-01-01T00:00:00Z', '2026-01-01T01:00:00Z'].map(at => ({ at }))
  const at = (time: string) => markPlace(Date.parse(time), { points, spanMs: 3_600_000 })
  expect(at('2026-01-01T00:30:00Z')).toBe(0.25)
  expect(at('2026-01-01T02:00:00Z')).toBe(1)
  expect(at('2025-12-31T23:59:59Z')).toBeUndefined()
  expect(at('2026-01-01T02:00:01Z')).toBeUndefined()
  expect(markPlace(0, { points: [], spanMs: 0 })).toBeUndefined()
})
