// Scales of charts.

import { expect, test } from 'vitest'
import { niceMax, placeOf } from './scale.ts'

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
