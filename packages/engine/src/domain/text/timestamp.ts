// Epoch milliseconds as the wire shows them (docs/concepts.md#ids-and-times).

// A timestamp's year has four digits, but a runner may request a longer sleep.
const MIN_MS = Date.parse('0000-01-01T00:00:00.000Z')
/** The last time that a timestamp can show. */
export const TIMESTAMP_MS_MAX = Date.parse('9999-12-31T23:59:59.999Z')

/** RFC 3339, UTC, milliseconds, `Z`. */
export function timestamp(ms: number): string {
  return new Date(Math.min(Math.max(ms, MIN_MS), TIMESTAMP_MS_MAX)).toISOString()
}

/** The same for a time that may be absent. */
export function optionalTimestamp(ms: number | undefined): string | undefined {
  return ms === undefined ? undefined : timestamp(ms)
}
