// Durations as people write them: milliseconds, "30s", "1h30m", "2 days". And as people read them.

import { DURATION_CHARS_MAX } from './bounds.ts'

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const TIME_UNITS = [
  ['ms', 'millisecond', 1],
  ['s', 'second', SECOND],
  ['m', 'minute', MINUTE],
  ['h', 'hour', HOUR],
  ['d', 'day', DAY],
  ['w', 'week', 7 * DAY],
] as const
/** By unit, by its word and by the word's plural. */
const UNIT_MS = new Map<string, number>(
  TIME_UNITS.flatMap(([unit, word, ms]) => [unit, word, `${word}s`].map(text => [text, ms] as const)),
)

type TimeUnit = (typeof TIME_UNITS)[number][0 | 1] | `${(typeof TIME_UNITS)[number][1]}s`
type Term = `${number}${'' | ' '}${TimeUnit}`
/** The last letters of units: a sum ends in one of them. */
type TimeUnitEnd = 's' | 'm' | 'h' | 'd' | 'w' | 'e' | 'r' | 'y' | 'k'

/**
 * Milliseconds, or a text of numbers with the units `ms s m h d w` or their English words, such as `"30s"`, `"1h30m"` or
 * `"2 days"`. The text of a number without a unit is none.
 */
export type Duration = number | Term | `${Term}${'' | ' '}${number}${string}${TimeUnitEnd}`

/** The accepted forms of a duration, for error messages. */
export const DURATION_FORMS = 'milliseconds, or numbers with ms, s, m, h, d, w or their words: "30s", "1h30m", "2 days"'

/** The duration in its largest unit up to days that leaves no fraction: `30s`. */
export function durationText(ms: number): string {
  const [unit, , unitMs] = TIME_UNITS.findLast(([unit, , unitMs]) => unit !== 'w' && ms % unitMs === 0) ?? TIME_UNITS[0]
  return `${ms / unitMs}${unit}`
}

const TERM = /(\d+(?:\.\d+)?)\s*([a-z]+)\s*/y

/**
 * Milliseconds of a duration (its forms: {@link Duration}); undefined if `value` is not one. A unit stands once in a sum, and the larger one
 * first.
 */
export function parseDurationMs(value: number | string): number | undefined {
  if (typeof value === 'number') return Number.isFinite(value) && value >= 0 ? value : undefined
  const text = value.trim()
  if (text === '' || text.length > DURATION_CHARS_MAX) return undefined
  let ms = 0
  let last = Number.POSITIVE_INFINITY
  TERM.lastIndex = 0
  while (TERM.lastIndex < text.length) {
    const [, count, unit = ''] = TERM.exec(text) ?? []
    const unitMs = UNIT_MS.get(unit)
    if (unitMs === undefined || unitMs >= last) return undefined
    ms += Number(count) * unitMs
    last = unitMs
  }
  return Number.isFinite(ms) ? Math.round(ms) : undefined
}

/** The same for a text of a query string, a command line or the environment, where a number without a unit is milliseconds. */
export function parseTextMs(text: string): number | undefined {
  return parseDurationMs(/^\s*\d+(?:\.\d+)?\s*$/.test(text) ? Number(text) : text)
}

/** "850ms", "1.2s", "3m 12s", "2h 5m", "4d 3h": an elapsed time for people, in at most two units. */
export function elapsedText(ms: number): string {
  if (ms < SECOND) return `${Math.round(ms)}ms`
  if (ms < MINUTE) return `${(Math.floor(ms / 100) / 10).toFixed(1)}s`
  if (ms < HOUR) return twoUnits(ms, [MINUTE, 'm'], [SECOND, 's'])
  if (ms < DAY) return twoUnits(ms, [HOUR, 'h'], [MINUTE, 'm'])
  return twoUnits(ms, [DAY, 'd'], [HOUR, 'h'])
}

function twoUnits(ms: number, [large, l]: [number, string], [small, s]: [number, string]): string {
  const rest = Math.floor((ms % large) / small)
  return `${Math.floor(ms / large)}${l}${rest === 0 ? '' : ` ${rest}${s}`}`
}
