import { expect, test } from 'vitest'
import { spanOf, trendSpans } from './trend-spans.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const now = Date.parse('2026-05-01T12:03:00.000Z')

test.each([
  ['an hour', HOUR, 5 * MINUTE, 13, '5m'],
  ['six hours', 6 * HOUR, 15 * MINUTE, 25, '5m'],
  ['a day', DAY, HOUR, 25, '1h'],
  ['a week', 7 * DAY, 6 * HOUR, 29, '1h'],
  ['a month', 30 * DAY, DAY, 31, '1d'],
  ['a year', 365 * DAY, 12 * DAY, 31, '1d'],
])('%s is cut at whole spans of time', (_, lengthMs, spanMs, count, step) => {
  const since = now - lengthMs
  const spans = trendSpans({ since, until: now }, 32, now)
  expect(spans).toMatchObject({ spanMs, count, step })
  expect(spans.from % spanMs).toBe(0)
  expect(spanOf(spans, since)).toBe(0)
  expect(spanOf(spans, now)).toBe(count - 1)
  expect(spanOf(spans, now + 2 * lengthMs)).toBe(count - 1)
})

test('an old window has the spans that are kept, and few spans may be one', () => {
  const since = now - 9 * DAY
  expect(trendSpans({ since, until: since + HOUR }, 32, now)).toMatchObject({ spanMs: HOUR, count: 2 })
  expect(trendSpans({ since: now - 401 * DAY, until: now - 400 * DAY }, 32, now)).toMatchObject({
    spanMs: DAY,
    count: 2,
  })
  expect(trendSpans({ since: 0, until: now }, 1, now)).toMatchObject({ from: 0, count: 1 })
  expect(trendSpans({ since, until: since }, 5, now).count).toBe(1)
})
