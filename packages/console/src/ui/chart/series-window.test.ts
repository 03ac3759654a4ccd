import { expect, test } from 'vitest'
import { seriesWindow, zoomedOut } from './series-window.ts'

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
  // Windows that were pinned long ago have the same length, but five minutes are kept for 8 days, and hours for 400.
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

test('a window is zoomed out around its middle, until it reaches the present', () => {
  const nowMs = Date.parse('2026-01-02T00:00:00Z')
  const out = (from: string, until?: string) => zoomedOut({ from, until }, nowMs)
  expect(out('2026-01-01T10:00:00Z', '2026-01-01T12:00:00Z')).toEqual({
    since: '2026-01-01T08:00:00.000Z',
    until: '2026-01-01T14:00:00.000Z',
  })
  expect(out('2026-01-01T20:00:00Z', '2026-01-01T23:00:00Z')).toEqual({
    since: '2026-01-01T17:00:00.000Z',
    until: undefined,
  })
  expect(out('2026-01-01T20:00:00Z').until).toBeUndefined()
})
