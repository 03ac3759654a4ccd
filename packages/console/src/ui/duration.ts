// Durations as text: short for tables and bars, words for screen readers and sentences.

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** A duration with two or three digits of meaning: `0 ms`, `850 ms`, `1.34 s`, `2 min 5 s`, `3 h 20 min`, `2 d 4 h`. */
export function durationText(ms: number): string {
  const rounded = Math.max(0, Math.round(ms))
  if (rounded < SECOND) return `${rounded} ms`
  if (rounded < MINUTE) return `${secondsText(rounded)} s`
  const [unit, name, below, belowName] =
    rounded < HOUR
      ? ([MINUTE, 'min', SECOND, 's'] as const)
      : rounded < DAY
        ? ([HOUR, 'h', MINUTE, 'min'] as const)
        : ([DAY, 'd', HOUR, 'h'] as const)
  const whole = Math.floor(rounded / unit)
  const rest = Math.floor((rounded - whole * unit) / below)
  return rest === 0 ? `${whole} ${name}` : `${whole} ${name} ${rest} ${belowName}`
}

function secondsText(ms: number): string {
  const digits = ms < 10 * SECOND ? 2 : 1
  // Cut, not rounded: 59.96 s must not be shown as 60.0 s.
  const factor = 10 ** digits
  return String(Math.floor((ms / SECOND) * factor) / factor)
}

const UNIT_WORDS: Readonly<Record<string, string>> = {
  ms: 'millisecond',
  s: 'second',
  min: 'minute',
  h: 'hour',
  d: 'day',
}

/** A text with the units of its durations in words, for a screen reader: `2 minutes 5 seconds`. */
export function inWords(text: string): string {
  return text.replace(/([\d.]+) (ms|s|min|h|d)\b/g, (_, count: string, unit: string) => {
    return `${count} ${UNIT_WORDS[unit]}${count === '1' ? '' : 's'}`
  })
}

/** A duration in words, to the largest unit: `22 minutes`, `1 second`. */
export function durationWords(ms: number): string {
  const rounded = Math.max(0, Math.round(ms))
  const [unit, name] =
    rounded < SECOND
      ? ([1, 'millisecond'] as const)
      : rounded < MINUTE
        ? ([SECOND, 'second'] as const)
        : rounded < HOUR
          ? ([MINUTE, 'minute'] as const)
          : rounded < DAY
            ? ([HOUR, 'hour'] as const)
            : ([DAY, 'day'] as const)
  const count = Math.floor(rounded / unit)
  return `${count} ${name}${count === 1 ? '' : 's'}`
}

/** The exact number of milliseconds, grouped in threes: `1 002 345 ms`. */
export function exactMs(ms: number): string {
  return `${String(Math.round(ms)).replace(/\B(?=(\d{3})+$)/g, '\u202f')} ms`
}

/** Cut to one unit: `2 min`, not `2 min 5 s`. */
export function coarse(ms: number): number {
  const unit = [86_400_000, 3_600_000, 60_000, 1000].find(each => ms >= each) ?? 1
  return Math.floor(ms / unit) * unit
}
