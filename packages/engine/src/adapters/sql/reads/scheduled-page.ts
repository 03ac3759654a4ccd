// Pages of flow-control rows with events: events that arrive later and open buffers, the soonest first, and schedules of the API.
// Their data can be large: a page is read in slices, and ends where it gets large.

import type { FlowRow } from '../../../domain/model/flow-row.ts'
import type { PositionedSchedule, SortedSchedulesQuery } from '../../../ports/schedule-reads.ts'
import {
  type BuffersQuery,
  EVENT_PAGE_CHARS_MAX,
  type ScheduledEventsQuery,
  type ScheduledQuery,
} from '../../../ports/store-reads.ts'
import { conditions } from '../description/conditions.ts'
import type { Query, Row, Value } from '../description/values.ts'
import { FLOW_ROWS, SCHEDULES } from '../tables/flow-rows.ts'

/** Rows read at once; the events of each are a mebibyte at most. */
const ROWS_AT_ONCE = 8

type ReadRows = (query: Query) => Promise<Row[]>

export function scheduledPage(read: ReadRows, namespace: string, query: ScheduledEventsQuery): Promise<FlowRow[]> {
  const { terms = [] } = query
  return page(read, query.limit, (last, limit) => {
    const after = last ? { dueAt: last.dueAt as number, id: last.id } : query.after
    if (terms.length > 0) return withTerms(namespace, terms, { after, limit })
    const params: Value[] = [namespace, ...(after ? [after.dueAt, after.id] : []), limit]
    return {
      sql: `SELECT ${FLOW_ROWS.select} FROM flow_rows
        WHERE namespace = ? AND policy = 'event' AND due_at IS NOT NULL ${after ? 'AND (due_at, id) > (?, ?)' : ''}
        ORDER BY due_at, id LIMIT ?`,
      params,
    }
  })
}

/** The first term is read in the order of its index; the event must have the others too. */
function withTerms(namespace: string, terms: readonly string[], { after, limit }: ScheduledQuery): Query {
  const others = terms
    .slice(1)
    .map(() => 'AND EXISTS (SELECT 1 FROM scheduled_terms AS o WHERE o.row_id = t.row_id AND o.term = ?)')
  const [first = ''] = terms
  const params: Value[] = [namespace, first, ...terms.slice(1), ...(after ? [after.dueAt, after.id] : []), limit, limit]
  return {
    sql: `SELECT ${FLOW_ROWS.select} FROM flow_rows WHERE id IN (SELECT row_id FROM (
        SELECT row_id FROM scheduled_terms AS t WHERE t.namespace = ? AND t.term = ? ${others.join(' ')}
          ${after ? 'AND (t.due_at, t.row_id) > (?, ?)' : ''} ORDER BY t.due_at, t.row_id LIMIT ?) AS soonest)
      ORDER BY due_at, id LIMIT ?`,
    params,
  }
}

export function eventSchedulePage(
  read: ReadRows,
  namespace: string,
  query: { after?: string | undefined; limit: number },
): Promise<FlowRow[]> {
  return page(read, query.limit, (last, limit) => ({
    sql: `SELECT ${FLOW_ROWS.select} FROM flow_rows
      WHERE namespace = ? AND policy = 'schedule' AND key > ? ORDER BY key LIMIT ?`,
    params: [namespace, last?.key ?? query.after ?? '', limit],
  }))
}

/** The terms, the column and the direction of each order. */
const SCHEDULE_ORDERS = {
  next: { terms: SCHEDULES, at: 'available_at', dir: 'ASC' },
  missed: { terms: 'missed_until IS NOT NULL', at: 'missed_until', dir: 'DESC' },
} as const

/** Rows of schedules with their sort positions. */
export async function sortedSchedules(
  read: ReadRows,
  namespace: string,
  { sort, policy, after, limit }: SortedSchedulesQuery,
): Promise<PositionedSchedule[]> {
  const { terms, at, dir } = SCHEDULE_ORDERS[sort]
  const found: PositionedSchedule[] = []
  await page(
    async query => {
      const rows = await read(query)
      found.push(...rows.map(row => ({ row: FLOW_ROWS.fromRow(row), at: row.at(-1) as number })))
      return rows
    },
    limit,
    (_, limit) => {
      const last = found.at(-1)
      const from = last ? { at: last.at, id: last.row.id } : after
      return {
        sql: `SELECT ${FLOW_ROWS.select}, ${at} FROM flow_rows WHERE namespace = ? AND ${terms}
          ${policy === undefined ? '' : 'AND policy = ?'} ${from ? `AND (${at}, id) ${dir === 'ASC' ? '>' : '<'} (?, ?)` : ''}
          ORDER BY ${at} ${dir}, id ${dir} LIMIT ?`,
        params: [namespace, ...(policy === undefined ? [] : [policy]), ...(from ? [from.at, from.id] : []), limit],
      }
    },
  )
  return found
}

const BUFFER_POLICIES = ['debounce', 'batch'] as const

export function bufferPage(read: ReadRows, namespace: string, query: BuffersQuery): Promise<FlowRow[]> {
  const { app, workflow, kind } = query
  return page(read, query.limit, (last, limit) => {
    const after = last ? { dueAt: last.dueAt as number, id: last.id } : query.after
    // Each policy has its own order in the index.
    const soonest = (kind === undefined ? BUFFER_POLICIES : [kind]).map(policy =>
      conditions({
        'namespace = ?': namespace,
        'policy = ? AND due_at IS NOT NULL': policy,
        'app = ?': app,
        'workflow = ?': workflow,
        '(due_at, id) > (?, ?)': after && [after.dueAt, after.id],
      }),
    )
    const ids = soonest.map(
      ({ terms }) => `SELECT id FROM (SELECT id FROM flow_rows WHERE ${terms} ORDER BY due_at, id LIMIT ?) AS soonest`,
    )
    return {
      sql: `SELECT ${FLOW_ROWS.select} FROM flow_rows
        WHERE id IN (${ids.join(' UNION ALL ')}) ORDER BY due_at, id LIMIT ?`,
      params: [...soonest.flatMap(({ params }) => [...params, limit]), limit],
    }
  })
}

async function page(
  read: ReadRows,
  limit: number,
  slice: (last: FlowRow | undefined, limit: number) => Query,
): Promise<FlowRow[]> {
  const rows: FlowRow[] = []
  let chars = 0
  while (rows.length < limit && chars <= EVENT_PAGE_CHARS_MAX) {
    const wanted = Math.min(ROWS_AT_ONCE, limit - rows.length)
    const found = (await read(slice(rows.at(-1), wanted))).map(FLOW_ROWS.fromRow)
    rows.push(...found)
    for (const { state } of found) chars += state.length
    if (found.length < wanted) break
  }
  return rows
}
