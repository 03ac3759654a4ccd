// The names that events of the log have. Called by the reads.

import type { EventNamesQuery, NamedEvents } from '../../../ports/store-reads.ts'
import type { Query, Row } from '../description/values.ts'

/** Sorts behind every character of a name. */
const LAST = '\u{10ffff}'

/** The least text that is greater than every name with the prefix. */
export const behindPrefix = (prefix: string) => prefix + LAST

/** Rows for `namedEvents`. Walks the index by name from one name to the next. */
export function eventNamesQuery(namespace: string, { prefix = '', after, limit }: EventNamesQuery): Query {
  const isNext = after === undefined ? 'name >= ?' : 'name > ?'
  const newest = (column: string) =>
    `(SELECT ${column} FROM events WHERE namespace = ? AND name = names.found ORDER BY position DESC LIMIT 1)`
  const sql = `WITH RECURSIVE names (found, number) AS (
      SELECT (SELECT min(name) FROM events WHERE namespace = ? AND ${isNext} AND name < ?), 1
      UNION ALL
      SELECT (SELECT min(name) FROM events WHERE namespace = ? AND name > found AND name < ?), number + 1
      FROM names WHERE found IS NOT NULL AND number < ?)
    SELECT found, ${newest('received_at')}, ${newest('id')} FROM names WHERE found IS NOT NULL ORDER BY number`
  const behind = behindPrefix(prefix)
  return { sql, params: [namespace, after ?? prefix, behind, namespace, behind, limit, namespace, namespace] }
}

export function namedEvents([name, lastAt, lastEventId]: Row): NamedEvents {
  return { name: name as string, lastAt: lastAt as number, lastEventId: lastEventId as string }
}
