// Scales of charts.

import { expect, test } from 'vitest'
import { axisCount, axisDuration, markPlace, niceMax, placeOf, timeTicks } from './scale.ts'

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

const HOUR_MS = 3_600_000
const spans = (from: string, count: number, spanMs: number) =>
  Array.from({ length: count }, (_, i) => Date.parse(from) + i * spanMs)
const texts = (zonedMs: readonly number[]) => timeTicks(zonedMs).map(({ span, text }) => `${span} ${text}`)

test('labels of times are at most six, at round times, with the date at midnight', () => {
  expect(texts(spans('2026-11-29T08:00:00Z', 24, HOUR_MS))).toEqual(['4 12:00', '10 18:00', '16 Nov 30', '22 06:00'])
  expect(texts(spans('2026-11-29T08:00:00Z', 12, HOUR_MS / 12))).toEqual(['0 Nov 29', '3 08:15', '6 08:30', '9 08:45'])
  expect(texts(spans('2026-11-01T00:00:00Z', 30, 24 * HOUR_MS)).length).toBeLessThanOrEqual(6)
  expect(texts(spans('2026-11-01T00:00:00Z', 30, 24 * HOUR_MS))[0]).toMatch(/^\d+ Nov \d+$/)
  // In a zone with a half-hour offset no span begins at a round time.
  expect(texts(spans('2026-11-29T08:30:00Z', 24, HOUR_MS))[0]).toBe('4 12:30')
  for (const days of [1, 9, 100, 748])
    expect(texts(spans('2025-01-01T00:00:00Z', days, 24 * HOUR_MS)).length).toBeLessThan(8)
  expect(timeTicks([])).toEqual([])
})

test('values of axes are short', () => {
  expect([1, 500, 5000, 10_000, 250_000, 2_000_000].map(axisCount)).toEqual(['1', '500', '5000', '10k', '250k', '2M'])
  expect([1, 500, 1000, 2500, 100_000, 3_600_000].map(axisDuration)).toEqual([
    '1 ms',
    '500 ms',
    '1 s',
    '2.5 s',
    '1.7 min',
    '1 h',
  ])
})
