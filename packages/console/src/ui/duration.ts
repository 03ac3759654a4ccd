// Durations as text: short for tables and bars, words for screen readers and sentences.

const SECOND = 1000
const MINUTE = 60 * SECOND

/** The units, the smallest first: how many ms each has, its short name, and its full name. */
const TIME_UNITS = [
  [1, 'ms', 'millisecond'],
  [SECOND, 's', 'second'],
  [MINUTE, 'min', 'minute'],
  [60 * MINUTE, 'h', 'hour'],
  [24 * 60 * MINUTE, 'd', 'day'],
] as const

type TimeUnit = (typeof TIME_UNITS)[number]

/** Returns the index of the largest unit that a duration has. */
const largestOf = (ms: number) =>
  Math.max(
    0,
    TIME_UNITS.findLastIndex(([unit]) => ms >= unit),
  )

/** Returns a duration with two or three significant digits: `0 ms`, `850 ms`, `1.34 s`, `2 min 5 s`, `3 h 20 min`, `2 d 4 h`. */
export function durationText(ms: number): string {
  const rounded = Math.max(0, Math.round(ms))
  if (rounded < SECOND) return `${rounded} ms`
  // Cut, not rounded: 59.96 s must not become 60.0 s.
  if (rounded < MINUTE) return `${(rounded - (rounded % (rounded < 10 * SECOND ? 10 : 100))) / SECOND} s`
  const at = largestOf(rounded)
  const [unit, name] = TIME_UNITS[at] as TimeUnit
  const [below, belowName] = TIME_UNITS[at - 1] as TimeUnit
  const whole = Math.floor(rounded / unit)
  const rest = Math.floor((rounded - whole * unit) / below)
  return rest === 0 ? `${whole} ${name}` : `${whole} ${name} ${rest} ${belowName}`
}

const counted = (count: number | string, word: string | undefined) =>
  `${count} ${word}${Number(count) === 1 ? '' : 's'}`

/** Returns a text with the units of its durations spelled out, for a screen reader: `2 minutes 5 seconds`. */
export const inWords = (text: string): string =>
  text.replace(/([\d.]+) (ms|s|min|h|d)\b/g, (_, count: string, short: string) =>
    counted(count, TIME_UNITS.find(([, name]) => name === short)?.[2]),
  )

/** Returns a duration spelled out, to the largest unit: `22 minutes`, `1 second`. */
export function durationWords(ms: number): string {
  const rounded = Math.max(0, Math.round(ms))
  const [unit, , word] = TIME_UNITS[largestOf(rounded)] as TimeUnit
  return counted(Math.floor(rounded / unit), word)
}

/** Returns the exact number of milliseconds, grouped in threes: `1 002 345 ms`. */
export function exactMs(ms: number): string {
  return `${String(Math.round(ms)).replace(/\B(?=(\d{3})+$)/g, '\u202f')} ms`
}

/** Cuts a duration to one unit: `2 min`, not `2 min 5 s`. */
export function coarse(ms: number): number {
  const [unit] = TIME_UNITS[largestOf(ms)] as TimeUnit
  return Math.floor(ms / unit) * unit
}
