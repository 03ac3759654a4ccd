// The bounds of one claim, the same in both dialects.

import type { Row } from '../description/values.ts'

/** Most runs that one claim holds for a slot. A long queue takes several claims, so that others can write in between. */
export const HELD_PER_CLAIM_MAX = 500

/** Most runs that one claim leaves due for lack of memory, after reading their sizes. */
export const LEFT_PER_CLAIM_MAX = 500

/** Characters of loaded rows after which a claim stops: a few huge runs must not fill the memory. */
export const CLAIM_CHARS_MAX = 32 * 1024 * 1024

/** The size of a run's state, in bytes. The heads of the rows have its lengths: no text is read. */
export const STATE_SIZE = `coalesce(octet_length(input), (SELECT octet_length(body) FROM payloads WHERE payloads.id = runs.id), 0)
  + (SELECT coalesce(sum(octet_length(data)), 0) FROM steps WHERE run_id = runs.id)`

/** Counts the characters of the rows' texts. */
export function charsOf(rows: readonly Row[]): number {
  let chars = 0
  for (const row of rows) for (const value of row) if (typeof value === 'string') chars += value.length
  return chars
}
