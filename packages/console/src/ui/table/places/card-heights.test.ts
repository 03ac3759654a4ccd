// The places of cards that each have a different height.

import { expect, test } from 'vitest'
import { CardHeights } from './card-heights.ts'
import { windowOf } from './window.ts'

const keys = (count: number) => Array.from({ length: count }, (_, i) => `run_${i}`)

test('cards are where the measured heights put them, and others where the first ones let guess', () => {
  const heights = new CardHeights()
  heights.note([
    ['run_0', 40],
    ['run_1', 60],
  ])
  heights.note([['run_2', 200]])
  const { topOf, indexAt } = heights.placesOf(keys(5))
  expect([0, 1, 2, 3, 4, 5].map(topOf)).toEqual([0, 40, 100, 300, 350, 400])
  expect([-50, 0, 39, 40, 299, 300, 399, 5000].map(indexAt)).toEqual([0, 0, 0, 1, 2, 3, 4, 5])
})

test('a height that is known already changes nothing', () => {
  const heights = new CardHeights()
  expect(heights.note([['run_0', 40]])).toBe(true)
  expect(heights.note([['run_0', 40]])).toBe(false)
  expect(heights.note([['run_0', 41]])).toBe(true)
})

test('the window of ten thousand cards has the visible ones, and the heights add up', () => {
  const heights = new CardHeights()
  heights.note(keys(6000).map((key, i) => [key, 40 + (i % 7) * 20]))
  const places = heights.placesOf(keys(10_000))
  for (const scrolledPx of [0, 250_000, 700_000]) {
    const { first, last, beforePx, afterPx } = windowOf({ count: 10_000, places, scrolledPx, viewPx: 800 })
    expect(places.topOf(first)).toBeLessThanOrEqual(scrolledPx)
    expect(places.topOf(last)).toBeGreaterThanOrEqual(scrolledPx + 800)
    expect(last - first).toBeLessThan(40)
    expect(beforePx + (places.topOf(last) - places.topOf(first)) + afterPx).toBe(places.topOf(10_000))
  }
})
