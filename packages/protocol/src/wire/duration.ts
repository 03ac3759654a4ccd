// Durations as registrations and settings write them: milliseconds, or "30s", "10m", "2h", "7d".

const UNIT_MS: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

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
