// Counts ended runs into the roll-ups, inside the writer's transaction: each end once. It walks the ends of each status in the
// order of their times, up to a mark. Writers go one after the other. If an end is committed before the mark passes its time, the
// walk meets it; otherwise its own commit marks it as `late` (write/statements.ts). A slow commit, a clock that was set, or
// another engine makes no difference. services/admin/end-counter decides when.

import { TERMINAL_STATUSES } from '@perdure/protocol'
import type { EndsToCount } from '../../../ports/store.ts'
import { query, type Work } from '../claims/transaction-work.ts'
import type { Query, Row, Value } from '../description/values.ts'
import { type EndsFrom, endGroup, endGroupsQuery } from './ends.ts'
import { addToRollups } from './rollup-rows.ts'

/** Uncounted ends in an order; each part of them is counted at once. */
interface Source {
  /** A row about the last of the first `limit` ends. */
  last: (limit: number) => Query
  /** The ends up to that last one. */
  upTo: (last: Row) => EndsFrom
  /** Marks them as counted. */
  counted: (last: Row) => Query
}

/** Returns how many ends were counted: fewer than the limit when none is left. */
export function* countEnds({ before, limit }: EndsToCount): Work<number> {
  let counted = 0
  for (const source of [REMOVED, LATE]) counted += yield* countSource(source, limit - counted)
  const marks = new Map<Value, Row>()
  for (const row of yield* query('SELECT status, ended_at, run_id FROM rollup_marks', []))
    marks.set(row[0] as Value, row)
  for (const status of TERMINAL_STATUSES) {
    const [, endedAt = -1, runId = ''] = (marks.get(status) ?? []) as [string?, number?, string?]
    counted += yield* countSource(ended({ status, endedAt, runId, before }), limit - counted)
  }
  return counted
}

function* countSource(source: Source, limit: number): Work<number> {
  if (limit <= 0) return 0
  const { sql, params } = source.last(limit)
  const [last] = yield* query(sql, params)
  if (!last) return 0
  const groupsQuery = endGroupsQuery(source.upTo(last))
  const groups = (yield* query(groupsQuery.sql, groupsQuery.params)).map(endGroup)
  yield* addToRollups(groups)
  const mark = source.counted(last)
  yield* query(mark.sql, mark.params)
  return groups.reduce((sum, { runs }) => sum + runs, 0)
}

const REMOVED: Source = {
  last: limit => ({
    sql: `SELECT position FROM (SELECT position FROM removed_ends ORDER BY position LIMIT ?i) AS first
      ORDER BY position DESC LIMIT 1`,
    params: [limit],
  }),
  upTo: ([position]) => ({ table: 'removed_ends', where: 'position <= ?i', params: [position as Value] }),
  counted: ([position]) => ({ sql: 'DELETE FROM removed_ends WHERE position <= ?i', params: [position as Value] }),
}

const LATE: Source = {
  last: limit => ({
    sql: 'SELECT id FROM (SELECT id FROM runs WHERE late = 1 ORDER BY id LIMIT ?i) AS first ORDER BY id DESC LIMIT 1',
    params: [limit],
  }),
  upTo: ([id]) => ({ table: 'runs', where: 'late = 1 AND id <= ?', params: [id as Value] }),
  counted: ([id]) => ({ sql: 'UPDATE runs SET late = NULL WHERE late = 1 AND id <= ?', params: [id as Value] }),
}

/** Finds the ends of a status that are past its mark. */
function ended(mark: { status: string; endedAt: number; runId: string; before: number }): Source {
  const { status, endedAt, runId, before } = mark
  const past = 'status = ? AND finished_at IS NOT NULL AND finished_at >= ?i AND (finished_at > ?i OR id > ?)'
  const params = [status, endedAt, endedAt, runId]
  return {
    last: limit => ({
      sql: `SELECT finished_at, id FROM (SELECT finished_at, id FROM runs WHERE ${past} AND finished_at < ?i
          ORDER BY finished_at, id LIMIT ?i) AS first
        ORDER BY finished_at DESC, id DESC LIMIT 1`,
      params: [...params, before, limit],
    }),
    upTo: ([at, id]) => ({
      table: 'runs',
      where: `${past} AND finished_at <= ?i AND (finished_at < ?i OR id <= ?)`,
      params: [...params, at as Value, at as Value, id as Value],
    }),
    counted: ([at, id]) => ({
      sql: `INSERT INTO rollup_marks (status, ended_at, run_id) VALUES (?, ?i, ?)
        ON CONFLICT (status) DO UPDATE SET ended_at = excluded.ended_at, run_id = excluded.run_id`,
      params: [status, at as Value, id as Value],
    }),
  }
}
