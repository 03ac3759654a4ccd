// The formats of times, and the parser of `--since`.

import { expect, test } from 'vitest'
import { clockTime, parseSince, relative } from './time.ts'

const now = Date.parse('2026-03-04T05:06:07.000Z')
const at = (ms: number) => new Date(now + ms).toISOString()
const [S, M, H, D] = [1000, 60_000, 3_600_000, 86_400_000]

test.each([
  [0, 'now'],
  [-999, 'now'],
  [999, 'now'],
  [-S, '1s ago'],
  [-59 * S - 999, '59s ago'],
  [-M, '1m ago'],
  [-3 * M - 10 * S, '3m ago'],
  [-H, '1h ago'],
  [-23 * H, '23h ago'],
  [-D, '1d ago'],
  [-400 * D, '400d ago'],
  [5 * M, 'in 5m'],
])('%i ms from now is "%s"', (ms, words) => {
  expect(relative(at(ms), now)).toBe(words)
})

test('a time of day has its milliseconds', () => {
  const date = new Date(2026, 0, 2, 3, 4, 5, 6)
  expect(clockTime(date.toISOString())).toBe('03:04:05.006')
})

test.each([
  ['2h', at(-2 * H)],
  ['90s', at(-90 * S)],
  ['2026-01-01T00:00:00Z', '2026-01-01T00:00:00Z'],
  ['2026-01-01T00:00:00+02:00', '2026-01-01T00:00:00+02:00'],
])('since %j is %s', (text, time) => {
  expect(parseSince(text, now)).toBe(time)
})

test.each(['', '5', 'yesterday', '2026', '2026-13-45T00:00:00Z', '-2h', '99999999d'])('since %j is nothing', text => {
  expect(parseSince(text, now)).toBeUndefined()
})
