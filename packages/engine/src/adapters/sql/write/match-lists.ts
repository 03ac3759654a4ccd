// The lists of paths by which waits and watches match (docs/events.md#match), read along the index of their keys: one row for
// each list, however many waits have it. Called by guard-checks.ts and by the queries of waits.

import { AFTER_MATCH_KEYS, MATCH_DIGEST_CHARS } from '../../../domain/expressions/match.ts'

/** The rows for an event name in a namespace, which are the parameters. */
export const WAITING = `steps WHERE steps.namespace = ? AND steps.event_name = ? AND steps.status = 'waiting'`
export const WATCHING = 'run_watches WHERE run_watches.namespace = ? AND run_watches.event_name = ?'

/**
 * Defines `lists`: the first key of each list. The parameters are a namespace and an event name, twice, and the number of lists
 * to read, whose placeholder is `most`.
 */
export function firstKeys(from: string, most: '?' | '?i'): string {
  return `WITH RECURSIVE lists(match_key, n) AS (
      SELECT (SELECT min(match_key) FROM ${from} AND match_key IS NOT NULL), 1
      UNION ALL
      SELECT (SELECT min(match_key) FROM ${from}
        AND match_key > substr(lists.match_key, 1, ${MATCH_DIGEST_CHARS}) || '${AFTER_MATCH_KEYS}'), n + 1
      FROM lists WHERE lists.match_key IS NOT NULL AND n < ${most})`
}

/** FROM of the digests of the lists, as `digest`; its parameters are those of `firstKeys`. */
export function digestsFrom(rows: string): string {
  return `(${firstKeys(rows, '?i')}
    SELECT substr(match_key, 1, ${MATCH_DIGEST_CHARS}) AS digest FROM lists WHERE match_key IS NOT NULL) AS found`
}
