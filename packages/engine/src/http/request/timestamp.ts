// Reads timestamps of requests, in queries and bodies (docs/errors.md#how-requests-are-checked).

import { invalid } from '../../domain/model/errors.ts'

const DATE = /(\d{4}-\d\d-\d\d)[Tt]/
const TIME = /((?:[01]\d|2[0-3]):[0-5]\d):([0-5]\d|60)(?:\.(\d+))?/
const OFFSET = /([Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)/
const RFC_3339 = new RegExp(`^${DATE.source}${TIME.source}${OFFSET.source}$`)

/** The error for any other text. */
export const TIMESTAMP_WANTED = 'must be an RFC 3339 timestamp'

/**
 * An RFC 3339 timestamp as epoch ms. Finer fractions are rounded up, so that nothing earlier counts as "at or after". A leap
 * second counts as the start of the next second.
 */
export function timestamp(name: string, value: string): number {
  // The `+` of an unescaped offset arrives as a space.
  const match = RFC_3339.exec(value.replace(' ', '+'))
  if (!match) throw invalid(name, TIMESTAMP_WANTED)
  const [, date, minute, second, fraction = '', offset = 'Z'] = match
  const isLeap = second === '60'
  const seconds = Date.parse(`${date}T${minute}:${isLeap ? '59' : second}${offset.toUpperCase()}`)
  // Date.parse moves February 30 into March.
  const dayExists = new Date(Date.parse(`${date}T00:00:00Z`) || 0).toISOString().startsWith(`${date}T`)
  if (Number.isNaN(seconds) || !dayExists || (isLeap && !endsMonth(seconds))) {
    throw invalid(name, TIMESTAMP_WANTED)
  }
  const ms = Number(fraction.slice(0, 3).padEnd(3, '0'))
  return seconds + (isLeap ? 1000 : 0) + ms + (/[1-9]/.test(fraction.slice(3)) ? 1 : 0)
}

/** Whether the second is the last of a month in UTC: only there can a leap second occur. */
function endsMonth(ms: number): boolean {
  return new Date(ms + 1000).toISOString().slice(8, 19) === '01T00:00:00'
}
