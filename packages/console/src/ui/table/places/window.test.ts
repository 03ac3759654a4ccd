import { expect, test } from 'vitest'
import { evenPlaces } from './places.ts'
import { windowInSteps, windowOf } from './window.ts'

const rows = (input: Partial<Parameters<typeof windowOf>[0]>) =>
  windowOf({ count: 5000, places: evenPlaces(32), scrolledPx: 0, viewPx: 640, ...input })

test('only rows near the view are rendered, and the heights add up', () => {
  for (const scrolledPx of [-300, 0, 33, 80_000, 160_000, 999_999]) {
    const { first, last, beforePx, afterPx } = rows({ scrolledPx })
    expect(last - first).toBeLessThan(50)
    expect(beforePx + (last - first) * 32 + afterPx).toBe(5000 * 32)
  }
})

test('without rows beside it, the view alone', () => {
  expect(rows({ overscan: 0 })).toMatchObject({ first: 0, last: 20 })
  expect(rows({ overscan: 0, scrolledPx: 320 })).toMatchObject({ first: 10, last: 30 })
})

test('the visible rows are among them', () => {
  const { first, last } = rows({ scrolledPx: 3200 })
  expect(first).toBeLessThanOrEqual(100)
  expect(last).toBeGreaterThanOrEqual(120)
  expect(rows({ count: 0 })).toEqual({ first: 0, last: 0, beforePx: 0, afterPx: 0 })
})

test('a short list is whole wherever it is', () => {
  for (const scrolledPx of [-9000, 9000])
    expect(windowInSteps({ count: 16, places: evenPlaces(32), rowPx: 32, scrolledPx, viewPx: 640 })).toMatchObject({
      first: 0,
      last: 16,
    })
  expect(windowInSteps({ count: 17, places: evenPlaces(32), rowPx: 32, scrolledPx: -9000, viewPx: 640 }).last).toBe(0)
})

test('in steps, the visible rows and some beside them are there, and a scroll by a row renders others each eighth time', () => {
  const windows = new Set<number>()
  for (let row = 0; row < 80; row++) {
    const { first, last } = windowInSteps({
      count: 5000,
      places: evenPlaces(32),
      rowPx: 32,
      scrolledPx: row * 32,
      viewPx: 640,
    })
    expect(first).toBeLessThanOrEqual(Math.max(0, row - 8))
    expect(last).toBeGreaterThanOrEqual(row + 20 + 8)
    expect(last - first).toBeLessThan(50)
    windows.add(last)
  }
  expect(windows.size).toBe(10)
})
