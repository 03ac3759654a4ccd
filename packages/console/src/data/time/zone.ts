// The zone in which times are shown and typed: the browser's, or UTC if the user has chosen it. Texts of times read it when they
// are rendered; a change renders the app again.

import { browserFlag } from '../storage/flag.ts'

const MINUTE_MS = 60_000

const utc = browserFlag('perdure.utc')

/** Whether times are in UTC. */
export const useUtc = utc.use

/** Returns the name of the zone, for labels. */
export const zoneName = (): string => (utc.isOn() ? 'UTC' : 'local time')

/** Switches to the other zone, and returns its name. */
export function toggleZone(): string {
  utc.toggle()
  return zoneName()
}

/** Returns date and time in a zone, to the millisecond: `2026-11-23 14:05:01.250`. */
export function textIn(atMs: number, isInUtc = utc.isOn()): string {
  const at = new Date(atMs - (isInUtc ? 0 : new Date(atMs).getTimezoneOffset() * MINUTE_MS))
  return Number.isNaN(+at) ? 'no time' : at.toISOString().replace('T', ' ').slice(0, -1)
}

/** Returns the epoch milliseconds of a text with a date. A text without a zone uses the console's. NaN for other texts. */
export function momentIn(text: string): number {
  const [, day, time = '00:00'] = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d[\d:.]*))?$/.exec(text) ?? []
  return Date.parse(day === undefined ? text : `${day}T${time}${utc.isOn() ? 'Z' : ''}`)
}
