// Hidden characters made visible, durations and times as text, and comparisons of texts.

import { describe, expect, it, vi } from 'vitest'
import { changedStretches, diffLines } from './diff/diff-lines.ts'
import { durationText, durationWords, exactMs, inWords } from './duration.ts'
import { agoText, clockText, exactTime } from './time.ts'
import { shortName, visibleParts, visibleText } from './visible-text.ts'

describe('hidden characters', () => {
  it('are written as their code point', () => {
    expect(visibleParts('a\u202eb\u0000')).toEqual([
      { text: 'a' },
      { code: 'U+202E' },
      { text: 'b' },
      { code: 'U+0000' },
    ])
    expect(visibleText('\u200b\ufeff\ud800\u{e0041}')).toBe('U+200BU+FEFFU+D800U+E0041')
    expect(visibleParts('plain\n\ttext 👩 é')).toEqual([{ text: 'plain\n\ttext 👩 é' }])
  })

  it('says so where there is no time', () => {
    expect([agoText(Number.NaN, 0), exactTime(9e15)]).toEqual(['no time', 'no time'])
  })
  it('leave names short and in one line', () => {
    expect(shortName('a\nb')).toBe('a b')
    expect(shortName('x'.repeat(5000))).toHaveLength(80)
    expect(shortName('👩'.repeat(81))).toBe(`${'👩'.repeat(79)}…`)
  })
})

it.each([
  [0, '0 ms', '0 milliseconds'],
  [999.4, '999 ms', '999 milliseconds'],
  [1340, '1.34 s', '1 second'],
  [59_960, '59.9 s', '59 seconds'],
  [125_000, '2 min 5 s', '2 minutes'],
  [12_000_000, '3 h 20 min', '3 hours'],
  [187_200_000, '2 d 4 h', '2 days'],
])('%d ms is %s', (ms, text, words) => {
  expect([durationText(ms), durationWords(ms)]).toEqual([text, words])
})

it('times are relative for reading', () => {
  const now = Date.parse('2026-03-01T12:00:00Z')
  expect(agoText(now - 4300, now)).toBe('4 s ago')
  expect(agoText(now - 83_000, now)).toBe('1 min ago')
  expect(agoText(now + 7_500_000, now)).toBe('in 2 h 5 min')
  expect(agoText(now - 90 * 86_400_000, now)).toBe('2025-12-01')
  expect(inWords(agoText(now - 22 * 60_000, now))).toBe('22 minutes ago')
  expect(inWords(agoText(now - 1500, now))).toBe('1 second ago')
  expect(inWords(agoText(now + 7_500_000, now))).toBe('in 2 hours 5 minutes')
  expect(inWords(agoText(now, now))).toBe('now')
  expect(inWords('1.34 s')).toBe('1.34 seconds')
  expect(clockText(now, now)).toMatch(/^\d\d:00:00$/)
  expect(exactMs(1_002_345)).toBe('1\u202f002\u202f345 ms')
})

it('days and exact times are in the time zone of the browser', () => {
  vi.stubEnv('TZ', 'Asia/Tokyo')
  const at = Date.parse('2026-01-31T18:00:00Z')
  expect(agoText(at, at + 90 * 86_400_000)).toBe('2026-02-01')
  vi.unstubAllEnvs()
})

describe('diffLines', () => {
  const marks = (before: string, after: string) =>
    diffLines(before, after).map(({ kind, text }) => `${{ same: ' ', removed: '-', added: '+' }[kind]}${text}`)

  it('marks what changed and keeps what is common', () => {
    expect(marks('a\nb\nc\nd', 'a\nx\nc\ny\nd')).toEqual([' a', '-b', '+x', ' c', '+y', ' d'])
    expect(marks('', '')).toEqual([' '])
  })

  it('ends for texts without anything in common, of any size', () => {
    const many = (char: string) => Array.from({ length: 5000 }, (_, i) => `${char}${i}`).join('\n')
    const kinds = diffLines(many('a'), many('b')).map(({ kind }) => kind)
    expect(kinds.filter(kind => kind === 'removed')).toHaveLength(5000)
    expect(kinds.filter(kind => kind === 'added')).toHaveLength(5000)
  })

  it('leaves out long stretches that are the same', () => {
    const lines = Array.from({ length: 50 }, (_, i) => `${i}`)
    const changed = lines.map(line => (line === '25' ? 'x' : line))
    const out = changedStretches(diffLines(lines.join('\n'), changed.join('\n')))
    expect(out.filter(line => 'skipped' in line)).toEqual([{ skipped: 22 }, { skipped: 21 }])
  })
})
