// The end of a window for the counts of the engine, which are by spans of time.

/** The engine counts up to the beginning of the five minutes that an end is in. */
const COUNTED_MS = 300_000

/** The end of the five minutes that a time is in: a window of the past has everything that it had when it was the present. */
export function countedUntil(until: string | undefined): string | undefined {
  const endMs = until === undefined ? Number.NaN : Date.parse(until)
  return Number.isNaN(endMs) ? until : new Date(Math.ceil(endMs / COUNTED_MS) * COUNTED_MS).toISOString()
}
