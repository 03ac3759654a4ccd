// Formats times and durations for people, and parses `--since`.

import { parseDurationMs } from '@perdure/protocol'

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** "12s ago", "3m ago", "in 2h": the largest whole unit, from now. */
export function relative(timestamp: string, now = Date.now()): string {
  const ms = now - Date.parse(timestamp)
  const distance = Math.abs(ms)
  if (distance < SECOND) return 'now'
  const text = largestUnit(distance)
  return ms > 0 ? `${text} ago` : `in ${text}`
}

/** A time with its distance from now, for a full record; undefined without a time. */
export const withAge = (time: string | undefined) => time && `${time} (${relative(time)})`

function largestUnit(ms: number): string {
  if (ms < MINUTE) return `${Math.floor(ms / SECOND)}s`
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)}m`
  if (ms < DAY) return `${Math.floor(ms / HOUR)}h`
  return `${Math.floor(ms / DAY)}d`
}

/** The local time of day, with milliseconds. */
export function clockTime(timestamp: string): string {
  const date = new Date(timestamp)
  const two = (n: number) => String(n).padStart(2, '0')
  const ms = String(date.getMilliseconds()).padStart(3, '0')
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}.${ms}`
}

/** Parses a time: RFC 3339, or an age ("2h", "7d"). Returns RFC 3339, or undefined when `text` is neither. */
export function parseSince(text: string, now: number): string | undefined {
  if (/^\d{4}-\d\d-\d\d[Tt ]/.test(text)) {
    return Number.isNaN(Date.parse(text)) ? undefined : text
  }
  const ms = parseDurationMs(text)
  return ms === undefined || ms > now ? undefined : new Date(now - ms).toISOString()
}
