// Times as text: relative for reading, exact for hovering. The caller passes the engine's time, because browsers' clocks are
// wrong.

import { textIn } from '../data/time/zone.ts'
import { coarse, durationText } from './duration.ts'

const DAY_MS = 86_400_000
const NO_TIME = 'no time'

/** Whether a text in the data was a time; a file may have anything instead. */
export const isMoment = (ms: number) => !Number.isNaN(new Date(ms).getTime())

/** Returns `4 s ago`, `2 h ago`, `in 2 h 5 min`; a month and more as a date. */
export function agoText(atMs: number, nowMs: number): string {
  if (!isMoment(atMs)) return NO_TIME
  const away = Math.abs(nowMs - atMs)
  if (away < 1000) return 'now'
  if (away > 30 * DAY_MS) return textIn(atMs).slice(0, 10)
  if (atMs <= nowMs) return `${durationText(coarse(away))} ago`
  return `in ${durationText(away < 60_000 ? coarse(away) : away)}`
}

/** Returns the exact moment in three ways: local time, UTC, and milliseconds since 1970. */
export function exactTime(atMs: number): string {
  if (!isMoment(atMs)) return NO_TIME
  return `${textIn(atMs, false)} local\n${new Date(atMs).toISOString()}\n${atMs} ms`
}

/** Returns date and time in the console's zone, to the millisecond: `2026-11-23 14:05:01.250`. */
export const localTime = (atMs: number): string => textIn(atMs)

/** Returns the time of day to the second, with the date if it is not today: `14:05:01`, `2026-11-24 14:05`. */
export function clockText(atMs: number, nowMs: number): string {
  const text = textIn(atMs)
  if (text.slice(0, 10) === textIn(nowMs).slice(0, 10)) return text.slice(11, 19)
  return text.slice(0, 16)
}
