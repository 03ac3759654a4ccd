// Delays before reconnecting.

import { CLOSE_CODES } from '@perdure/protocol'
import { expect, test } from 'vitest'
import { reconnectDelayMs } from './backoff.ts'

const pause = (failures: number, { closeCode = 1006, random = 1 } = {}) =>
  reconnectDelayMs({ closeCode, failures, random, initialMs: 250 })

test('delays double up to 15 s, and stay there', () => {
  expect([1, 2, 3, 6, 7, 8, 1_000_000].map(failures => pause(failures))).toEqual([
    250, 500, 1000, 8000, 15_000, 15_000, 15_000,
  ])
})

test('jitter reduces a delay by up to half', () => {
  expect(pause(1, { random: 0 })).toBe(125)
  expect(pause(99, { random: 0.5 })).toBe(11_250)
})

test('the first attempt after a draining engine is early, with full jitter', () => {
  const closeCode = CLOSE_CODES.draining
  expect([0, 0.5, 0.99].map(random => pause(1, { closeCode, random }))).toEqual([0, 125, 247.5])
  expect(pause(3, { closeCode })).toBe(1000)
})

test('a replaced socket waits at least half of the longest delay', () => {
  expect(pause(1, { closeCode: CLOSE_CODES.replaced, random: 0 })).toBe(7500)
})
