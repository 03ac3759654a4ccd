// Durations as registrations and settings write them: milliseconds, or "30s", "10m", "2h", "7d". And as people read them.

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const UNIT_MS: Record<string, number> = { ms: 1, s: SECOND, m: MINUTE, h: HOUR, d: DAY }

/** The accepted forms of a duration, for error messages. */
export const DURATION_FORMS = 'milliseconds, or a number with ms, s, m, h or d: "30s"'

/** The duration in its largest unit that leaves no fraction: `30s`. */
export function durationText(ms: number): string {
  const [unit, unitMs] = Object.entries(UNIT_MS).findLast(([, unitMs]) => ms % unitMs === 0) ?? ['ms', 1]
  return `${ms / unitMs}${unit}`
}

/** Milliseconds of a duration (a number of ms, or a number with ms, s, m, h or d); undefined if `value` is not one. */
export function parseDurationMs(value: number | string): number | undefined {
  if (typeof value === 'number') return Number.isFinite(value) && value >= 0 ? value : undefined
  const match = /^\s*(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)?\s*$/.exec(value)
  if (!match) return undefined
  const ms = Math.round(Number(match[1]) * (UNIT_MS[match[2] ?? 'ms'] as number))
  return Number.isFinite(ms) ? ms : undefined
}

/** "850ms", "1.2s", "3m 12s", "2h 5m", "4d 3h": what took this long, for people: two units at most. */
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
