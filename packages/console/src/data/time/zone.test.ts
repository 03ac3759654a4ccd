// The zone in which times are shown and typed, and the days of windows in it.

import { afterEach, expect, test, vi } from 'vitest'
import { sinceParam, startOf } from './window.ts'
import { momentIn, textIn, toggleZone, zoneName } from './zone.ts'

const HOUR_MS = 3_600_000

afterEach(() => {
  if (zoneName() === 'UTC') toggleZone()
  vi.unstubAllEnvs()
})

test('texts of times are in the zone that is chosen, and are read in it', () => {
  vi.stubEnv('TZ', 'Asia/Tokyo')
  const at = Date.parse('2026-01-31T18:00:01.250Z')
  expect(textIn(at)).toBe('2026-02-01 03:00:01.250')
  expect(momentIn('2026-02-01 03:00:01.250')).toBe(at)
  expect(toggleZone()).toBe('UTC')
  expect(textIn(at)).toBe('2026-01-31 18:00:01.250')
  expect(momentIn('2026-01-31T18:00:01.250')).toBe(at)
  expect(momentIn('2026-01-31')).toBe(Date.parse('2026-01-31T00:00:00Z'))
  // A text with a zone keeps its zone.
  expect(momentIn('2026-02-01T03:00:01.250+09:00')).toBe(at)
  expect([momentIn('soon'), textIn(Number.NaN)]).toEqual([Number.NaN, 'no time'])
})

test('a day begins at midnight in the zone, on the day after a clock changed too', () => {
  vi.stubEnv('TZ', 'Europe/Berlin')
  // The night in which clocks go forward has 23 hours.
  const noon = Date.parse('2026-03-30T10:00:00Z')
  expect(startOf('today', noon)).toBe(Date.parse('2026-03-29T22:00:00Z'))
  expect(startOf('yesterday', noon)).toBe(Date.parse('2026-03-28T23:00:00Z'))
  expect((startOf('today', noon) as number) - (startOf('yesterday', noon) as number)).toBe(23 * HOUR_MS)
  toggleZone()
  expect(sinceParam('yesterday', noon)).toBe('2026-03-29T00:00:00.000Z')
  // In Berlin it is already the next day.
  expect(sinceParam('today', Date.parse('2026-03-29T22:30:00Z'))).toBe('2026-03-29T00:00:00.000Z')
})
