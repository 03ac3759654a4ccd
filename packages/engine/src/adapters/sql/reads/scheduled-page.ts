// A page of the events that arrive later, the soonest first. Their data can be large: the page is read in slices, and ends where
// it gets large.

import type { FlowRow } from '../../../domain/model/flow-row.ts'
import { EVENT_PAGE_CHARS_MAX, type ScheduledQuery } from '../../../ports/store-reads.ts'
import type { Query, Row, Value } from '../description/values.ts'
import { FLOW_ROWS } from '../tables/flow-rows.ts'

/** Rows read at once; the event of each is a mebibyte at most. */
const ROWS_AT_ONCE = 8

export async function scheduledPage(
  read: (query: Query) => Promise<Row[]>,
  namespace: string,
  query: ScheduledQuery,
): Promise<FlowRow[]> {
  const rows: FlowRow[] = []
  let chars = 0
  while (rows.length < query.limit && chars <= EVENT_PAGE_CHARS_MAX) {
    const limit = Math.min(ROWS_AT_ONCE, query.limit - rows.length)
    const last = rows.at(-1)
    const after = last ? { dueAt: last.dueAt as number, id: last.id } : query.after
    const found = (await read(scheduledQuery(namespace, after, limit))).map(FLOW_ROWS.fromRow)
    rows.push(...found)
    for (const { state } of found) chars += state.length
    if (found.length < limit) break
  }
  return rows
}

function scheduledQuery(namespace: string, after: ScheduledQuery['after'], limit: number): Query {
  const params: Value[] = [namespace]
  if (after) params.push(after.dueAt, after.id)
  return {
    sql: `SELECT ${FLOW_ROWS.select} FROM flow_rows
      WHERE namespace = ? AND policy = 'event' AND due_at IS NOT NULL ${after ? 'AND (due_at, id) > (?, ?)' : ''}
      ORDER BY due_at, id LIMIT ?`,
    params: [...params, limit],
  }
}
