// The end of a window for the counts of the engine, which cover fixed spans of time.

/** The engine counts up to the beginning of the five-minute span that contains the end. */
const COUNTED_MS = 300_000

/**
 * Returns the end of the five-minute span that contains a time: a past window then shows everything that it showed when it was
 * the present.
 */
export function countedUntil(until: string | undefined): string | undefined {
  const endMs = until === undefined ? Number.NaN : Date.parse(until)
  return Number.isNaN(endMs) ? until : new Date(Math.ceil(endMs / COUNTED_MS) * COUNTED_MS).toISOString()
}
