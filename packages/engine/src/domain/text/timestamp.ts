// Epoch milliseconds as the wire shows them (decisions, "Ids, times, numbers"). Used by everything that is shown.

// A timestamp has a year of four digits; a runner may ask to sleep for longer than that.
const MIN_MS = Date.parse('0000-01-01T00:00:00.000Z')
const MAX_MS = Date.parse('9999-12-31T23:59:59.999Z')

/** RFC 3339, UTC, milliseconds, `Z`. */
export function timestamp(ms: number): string {
  return new Date(Math.min(Math.max(ms, MIN_MS), MAX_MS)).toISOString()
}

/** The same for a time that may be absent. */
export function optionalTimestamp(ms: number | undefined): string | undefined {
  return ms === undefined ? undefined : timestamp(ms)
}
