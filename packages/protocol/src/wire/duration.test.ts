// The parser and the texts of durations.

import fc from 'fast-check'
import { describe, expect, expectTypeOf, it } from 'vitest'
import { type Duration, durationText, elapsedText, parseDurationMs, parseTextMs } from './duration.ts'

describe('a duration', () => {
  it.each([
    ['30s', 30_000],
    ['10m', 600_000],
    ['2h', 7_200_000],
    ['7d', 604_800_000],
    ['250ms', 250],
    ['2w', 1_209_600_000],
    ['3 weeks', 1_814_400_000],
    ['30 days', 2_592_000_000],
    ['1 day', 86_400_000],
    ['1h30m', 5_400_000],
    ['1 hour 30 minutes', 5_400_000],
    ['2d 1.5h', 178_200_000],
    ['1w2d3h4m5s6ms', 788_645_006],
    [' 1.5 h ', 5_400_000],
    ['0.0001s', 0],
    [0, 0],
    [1500.5, 1500.5],
  ])('%s is %i ms', (text, ms) => {
    expect(parseDurationMs(text)).toBe(ms)
  })

  it.each([
    ...[
      '',
      's',
      'soon',
      '-5s',
      '250',
      ' 1.5 ',
      '1h30',
      '30m1h',
      '1h1h',
      '5 ws',
      '5 mss',
      '1 month',
      '1e3',
      '5S',
      '1,5s',
      '0x10',
    ],
    ...['1 constructor', `${'0'.repeat(70)}1s`, '1h and 30m', -1, NaN, Infinity],
  ])('%s is not a duration', value => {
    expect(parseDurationMs(value)).toBeUndefined()
  })

  it('of a query string, a command line or the environment may be a number of milliseconds', () => {
    expect(['250', '1.5', '1h30m', 'soon', ''].map(parseTextMs)).toEqual([250, 1.5, 5_400_000, undefined, undefined])
  })

  it('is a type that refuses what is none', () => {
    const good = ['250ms', '1.5 h', '30 days', '1 minute', '1h30m', '1h 30m', '1w2d3h', '1 hour 30 minutes'] as const
    const bad = ['250', 'soon', '', '5 S', '1h30', '1 month', 'h'] as const
    expectTypeOf<(typeof good)[number]>().toExtend<Duration>()
    expectTypeOf<Extract<(typeof bad)[number], Duration>>().toBeNever()
    expect(good.filter(one => parseDurationMs(one) === undefined)).toEqual([])
    expect(bad.filter(one => parseDurationMs(one) !== undefined)).toEqual([])
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
