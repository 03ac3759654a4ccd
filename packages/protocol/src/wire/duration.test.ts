// The parser and the texts of durations.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { durationText, elapsedText, parseDurationMs } from './duration.ts'

describe('a duration', () => {
  it.each([
    ['30s', 30_000],
    ['10m', 600_000],
    ['2h', 7_200_000],
    ['7d', 604_800_000],
    ['250ms', 250],
    ['250', 250],
    [' 1.5 h ', 5_400_000],
    ['0.0001s', 0],
    [0, 0],
    [1500.5, 1500.5],
  ])('%s is %i ms', (text, ms) => {
    expect(parseDurationMs(text)).toBe(ms)
  })

  it.each(['', 's', 'soon', '-5s', '5 weeks', '1e3', '5S', '1,5s', '1h30m', '0x10', -1, NaN, Infinity])(
    '%s is not a duration',
    value => {
      expect(parseDurationMs(value)).toBeUndefined()
    },
  )

  it('is the number times its unit', () => {
    const units = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }
    const unit = fc.constantFrom(...(Object.keys(units) as (keyof typeof units)[]))
    fc.assert(
      fc.property(fc.nat(), unit, (count, unit) => {
        expect(parseDurationMs(`${count}${unit}`)).toBe(count * units[unit])
      }),
    )
  })

  it.each([
    [30_000, '30s'],
    [90_000, '90s'],
    [7_200_000, '2h'],
    [1500, '1500ms'],
  ])('of %i ms is written %s', (ms, text) => {
    expect(durationText(ms)).toBe(text)
  })

  it('is written so that it is read again as it was', () => {
    fc.assert(fc.property(fc.nat(), ms => parseDurationMs(durationText(ms)) === ms))
  })

  it.each([
    [0, '0ms'],
    [850, '850ms'],
    [1000, '1.0s'],
    [1290, '1.2s'],
    [59_999, '59.9s'],
    [60_000, '1m'],
    [192_000, '3m 12s'],
    [7_500_000, '2h 5m'],
    [273_600_000, '3d 4h'],
    [259_200_000, '3d'],
  ])('that took %i ms is read as %s', (ms, text) => {
    expect(elapsedText(ms)).toBe(text)
  })
})
