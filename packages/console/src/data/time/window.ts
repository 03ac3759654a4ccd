// Windows of time in the URL: `1h`, `24h`, `7d`, a day, or an absolute time.

import { momentIn, textIn } from './zone.ts'

const TIME_UNITS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

const DAY_MS = 86_400_000
/** Names of days. The index is the number of days ago. */
export const DAYS: readonly string[] = ['today', 'yesterday']

/** Returns the start of a window, in milliseconds since the epoch; undefined for a text that is neither a length nor a time. */
export function startOf(since: string, nowMs: number): number | undefined {
  const [, count, unit = ''] = /^(\d{1,6})([smhd])$/.exec(since) ?? []
  if (count !== undefined) return nowMs - Number(count) * (TIME_UNITS[unit] as number)
  const daysAgo = DAYS.indexOf(since)
  // A day in the display zone: its hours differ when the clocks change.
  const at = momentIn(
    daysAgo < 0 ? since : textIn(Date.parse(textIn(nowMs).slice(0, 10)) - daysAgo * DAY_MS, true).slice(0, 10),
  )
  return Number.isNaN(at) ? undefined : at
}

/**
 * Returns the start of a window for a query of the engine. A relative window is cut to its minute, so that the query can be
 * cached.
 */
export function sinceParam(since: string | undefined, nowMs: number): string | undefined {
  if (since === undefined) return undefined
  const at = startOf(since, nowMs)
  if (at === undefined) return undefined
  const isRelative = /^\d+[smhd]$/.test(since)
  return new Date(isRelative ? Math.floor(at / 60_000) * 60_000 : at).toISOString()
}
