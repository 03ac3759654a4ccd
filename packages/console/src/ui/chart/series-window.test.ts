import { expect, test } from 'vitest'
import { seriesWindow } from './series-window.ts'

const HOUR_MS = 3_600_000
const now = Date.parse('2026-05-01T12:00:30.000Z')
const ago = (hours: number) => new Date(now - hours * HOUR_MS).toISOString()
const days = (count: number) => ago(24 * count)

test.each([
  [ago(1), undefined, '5m'],
  [ago(2.01), undefined, '5m'],
  [ago(24), undefined, '1h'],
  [days(7), undefined, '1h'],
  [days(8.01), undefined, '1h'],
  [days(30), undefined, '1d'],
  // Windows that were pinned long ago: of the same length, but five minutes are kept for 8 days, and hours for 400.
  [days(5), days(4.95), '5m'],
  [days(30), days(23), '1h'],
  [days(30), days(29.95), '1h'],
  [days(500), days(493), '1d'],
  [undefined, undefined, '1h'],
])('from %s to %s: bars of %s', (since, until, step) => {
  expect(seriesWindow(since, until, now)).toEqual({ since, until, step })
})

test('a window of years shows its last 748 days', () => {
  expect(seriesWindow(days(2000), undefined, now)).toEqual({ since: days(748), until: undefined, step: '1d' })
})
