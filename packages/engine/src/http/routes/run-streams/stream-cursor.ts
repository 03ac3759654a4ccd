// The cursor of live reads. It makes each request of a client differ for the caches in between, so that none of them returns a
// stored answer for ever.

const EPOCH_MS = Date.UTC(2024, 9, 9)
const INTERVAL_MS = 20_000
/** A client that is ahead gets a cursor that is further ahead, by 1 to this many intervals: an hour. */
const JITTER_MAX = 180

/** Returns the cursor of an answer at `now`, above the client's cursor. `random` is from 0 to 1. */
export function nextCursor(sent: string | undefined, now: number, random: number): string {
  const current = BigInt(Math.max(0, Math.floor((now - EPOCH_MS) / INTERVAL_MS)))
  if (sent === undefined || BigInt(sent) < current) return String(current)
  return String(BigInt(sent) + 1n + BigInt(Math.floor(random * JITTER_MAX)))
}
