// Removes rows whose retention is over, inside the writer's transaction: rows of one kind, a bounded number at a time, found
// through an index. services/admin/prune decides when.

import { type EndedStatus, EVENTS_HELD_MS_MAX } from '../../../domain/run/retention.ts'
import type { Pruning } from '../../../ports/store.ts'
import type { Row } from '../description/values.ts'
import { KEEP_ENDS } from '../tables/ended-runs.ts'
import { EARLY_CALLBACKS } from '../tables/flow-rows.ts'
import { IDLE, LEASED } from '../tables/runs.ts'
import { query, type Work } from './transaction-work.ts'

/** Ids in one statement. A shorter list repeats its last id, so that there is one statement to prepare. */
const IDS_AT_ONCE = 50
/** Steps, logs and frames that are removed with a batch of runs, roughly: one run of 10,000 steps is a batch of its own. */
const ROWS_MAX = 1000

const WEIGHT = `coalesce((SELECT max(idx) + 1 FROM steps WHERE run_id = runs.id), 0)
  + (SELECT count(*) FROM (SELECT 1 FROM logs WHERE run_id = runs.id LIMIT ${ROWS_MAX}) AS l)
  + (SELECT count(*) FROM (SELECT 1 FROM frames WHERE run_id = runs.id LIMIT ${ROWS_MAX}) AS f)`
const ENDED = `SELECT id, ${WEIGHT} FROM runs WHERE status = ? AND finished_at < ?i ORDER BY finished_at LIMIT ?i`
const SETTLED = `SELECT id FROM deliveries WHERE available_at IS NULL AND updated_at < ?i
  AND status IN ('succeeded', 'exhausted', 'dead') ORDER BY updated_at LIMIT ?i`

/** Namespaces whose oldest event is that old: one index lookup for each namespace. */
const AGED_NAMESPACES = `WITH RECURSIVE spaces (space) AS (
    SELECT min(namespace) FROM events
    UNION ALL
    SELECT (SELECT min(namespace) FROM events WHERE namespace > space) FROM spaces WHERE space IS NOT NULL)
  SELECT space FROM spaces WHERE space IS NOT NULL
    AND (SELECT received_at FROM events WHERE namespace = space ORDER BY position LIMIT 1) < ?i`
/**
 * Where in the log the live runs of a namespace were created; their waits look at what is behind that. One row of all idle runs,
 * and one of each leased run of any namespace: as many as engines drive.
 */
const LOOKED_BACK_TO = `SELECT NULL, min(log_position) FROM runs WHERE namespace = ? AND ${IDLE}
  UNION ALL SELECT namespace, log_position FROM runs WHERE ${LEASED} AND available_at > 0`
/**
 * Positions are nearly in the order of arrival: looks at the first positions, and removes the old events among them, unless a
 * live run looks back at them and they are not older still.
 */
const OLD_EVENTS = `DELETE FROM events WHERE position IN (
    SELECT position FROM (SELECT position, received_at FROM events WHERE namespace = ? ORDER BY position LIMIT ?i) AS front
    WHERE received_at < ?i AND (position <= ?i OR received_at < ?i))
  RETURNING position`

const OLD_ACTIONS = `DELETE FROM control_actions WHERE id IN (
    SELECT id FROM control_actions WHERE created_at < ?i ORDER BY created_at LIMIT ?i)
  RETURNING id`
const OVER_DEDUPES = `DELETE FROM dedupes WHERE (namespace, app, dedupe_id) IN (
    SELECT namespace, app, dedupe_id FROM dedupes WHERE expires_at <= ?i ORDER BY expires_at LIMIT ?i)
  RETURNING expires_at`
const OVER_CLAIMS = `DELETE FROM flow_rows WHERE id IN (
    SELECT id FROM flow_rows WHERE expires_at <= ?i ORDER BY expires_at LIMIT ?i)
  RETURNING expires_at`

const OLD_ROLLUPS = `DELETE FROM run_rollups WHERE (span, namespace, app, workflow, at) IN (
    SELECT span, namespace, app, workflow, at FROM run_rollups WHERE span = ? AND at < ?i ORDER BY at LIMIT ?i)
  RETURNING at`
const OLD_POSTS = `DELETE FROM endpoint_rollups WHERE (span, namespace, endpoint_id, at, outcome, duration_class) IN (
    SELECT span, namespace, endpoint_id, at, outcome, duration_class FROM endpoint_rollups
    WHERE span = ? AND at < ?i ORDER BY at LIMIT ?i)
  RETURNING at`
const OLD_RESULTS = `DELETE FROM bulk_results WHERE (bulk_id, run_id) IN (
    SELECT bulk_id, run_id FROM bulk_results WHERE expires_at <= ?i ORDER BY expires_at LIMIT ?i)
  RETURNING run_id`

/** Rows older than this may have been removed, so that their absence is not a violation (see verify). */
const MARK = `INSERT INTO prune_marks (what, up_to) VALUES (?, ?i)
  ON CONFLICT (what) DO UPDATE SET up_to = excluded.up_to WHERE prune_marks.up_to < excluded.up_to`

/** Answers how many rows of the kind were removed: 0 when none is left. */
export function* prune({ rows, before, limit }: Pruning): Work<number> {
  switch (rows) {
    case 'runs.succeeded':
    case 'runs.failed':
    case 'runs.cancelled':
      return yield* marked('runs', before, pruneRuns(rows.slice('runs.'.length) as EndedStatus, before, limit))
    case 'deliveries':
      return yield* marked(rows, before, pruneDeliveries(before, limit))
    case 'events':
      return yield* marked(rows, before, pruneEvents(before, limit))
    case 'actions':
      return (yield* query(OLD_ACTIONS, [before, limit])).length
    case 'dedupes':
      return (yield* query(OVER_DEDUPES, [before, limit])).length
    case 'claims':
      // The results of a bulk action go before its row.
      return (yield* query(OLD_RESULTS, [before, limit])).length || (yield* query(OVER_CLAIMS, [before, limit])).length
    case 'rollups.5m':
    case 'rollups.1h': {
      const old = [rows.slice('rollups.'.length), before, limit]
      return (yield* query(OLD_ROLLUPS, old)).length || (yield* query(OLD_POSTS, old)).length
    }
  }
}

function* marked(what: string, before: number, removing: Work<number>): Work<number> {
  const removed = yield* removing
  if (removed > 0) yield* query(MARK, [what, before])
  return removed
}

/** Removes runs with all rows of theirs. References from elsewhere to a removed run lead nowhere. */
function* pruneRuns(status: EndedStatus, before: number, limit: number): Work<number> {
  let removed = 0
  for (let weight = 0; removed < limit && weight < ROWS_MAX; ) {
    const ended = (yield* query(ENDED, [status, before, Math.min(IDS_AT_ONCE, limit - removed)])) as [string, number][]
    const ids: string[] = []
    for (const [id, rows] of ended) {
      if (weight >= ROWS_MAX) break
      weight += rows
      ids.push(id)
    }
    if (ids.length === 0) break
    for (const table of ['steps', 'logs', 'frames', 'run_watches', 'run_attributes', 'given_run_ids'])
      yield* remove(table, 'run_id', ids)
    yield* forIds(`DELETE FROM flow_rows WHERE ${EARLY_CALLBACKS} AND key IN`, ids)
    yield* remove('payloads', 'id', ids)
    yield* forIds(KEEP_ENDS, ids)
    yield* remove('runs', 'id', ids)
    removed += ids.length
  }
  return removed
}

function* pruneDeliveries(before: number, limit: number): Work<number> {
  const ids = (yield* query(SETTLED, [before, limit])).map(([id]) => id as string)
  for (let at = 0; at < ids.length; at += IDS_AT_ONCE) {
    const some = ids.slice(at, at + IDS_AT_ONCE)
    yield* remove('delivery_attempts', 'delivery_id', some)
    yield* remove('payloads', 'id', some)
    yield* remove('deliveries', 'id', some)
  }
  return ids.length
}

function* pruneEvents(before: number, limit: number): Work<number> {
  let removed = 0
  for (const [namespace] of (yield* query(AGED_NAMESPACES, [before])) as [string][]) {
    if (removed >= limit) break
    const lookBacks = (yield* query(LOOKED_BACK_TO, [namespace])) as [of: string | null, position: number | null][]
    const own = lookBacks.filter(([of]) => of === null || of === namespace)
    const free = Math.min(...own.map(([, position]) => position ?? Number.MAX_SAFE_INTEGER))
    const params = [namespace, limit - removed, before, free, before - EVENTS_HELD_MS_MAX]
    const gone = yield* query(OLD_EVENTS, params)
    removed += gone.length
  }
  return removed
}

function remove(table: string, column: string, ids: readonly string[]): Work<Row[]> {
  return forIds(`DELETE FROM ${table} WHERE ${column} IN`, ids)
}

/** Executes a statement that the list of ids completes. */
function* forIds(sql: string, ids: readonly string[]): Work<Row[]> {
  const holes = Array(IDS_AT_ONCE).fill('?').join(', ')
  const padded = Array.from({ length: IDS_AT_ONCE }, (_, i) => ids[Math.min(i, ids.length - 1)] as string)
  return yield* query(`${sql} (${holes})`, padded)
}
