import { expect, test } from 'vitest'
import { timeText } from '../../data/time/time-text.ts'
import { fieldText, rangeFault } from './range-text.ts'

const now = new Date(2026, 0, 31, 12, 30, 5).getTime()

test('a field has the time without seconds that are zero; other texts of the URL stay as they are', () => {
  expect(fieldText('1h', now)).toBe('2026-01-31T11:30:05')
  expect(fieldText('yesterday', now)).toBe('2026-01-30T00:00')
  expect([fieldText(undefined, now), fieldText('x', now)]).toEqual(['', ''])
  expect(timeText(new Date(now).toISOString())).toBe('2026-01-31 12:30')
  expect([timeText('24h'), timeText('2026-99-99')]).toEqual(['24h', '2026-99-99'])
})

test.each([
  [undefined, undefined, undefined],
  ['1h', undefined, undefined],
  [undefined, '1h', undefined],
  ['yesterday', 'today', undefined],
  ['1h', '2h', 'From must be before To'],
  ['1h', '1h', 'From must be before To'],
  ['2027-01-01', undefined, 'From must be in the past'],
  ['x', undefined, 'From is not a time'],
])('the range from %s to %s: %s', (since, until, fault) => {
  expect(rangeFault(since, until, now)).toBe(fault)
})
