// Removing what a retention lets go of, inside the writer's transaction: rows of one kind, a bounded number at a time,
// found through an index. Asked for by services/admin/prune.

import { type EndedStatus, EVENTS_HELD_MS_MAX } from '../../../domain/run/retention.ts'
import type { Pruning } from '../../../ports/store.ts'
import type { Row } from '../tables/operations.ts'
import { type Asking, ask } from './transaction-work.ts'

/** Ids in one statement; a shorter list repeats its last one, so that there is one statement to prepare. */
const IDS_AT_ONCE = 50
/** Steps, logs and frames that go with a batch of runs, roughly: one run of 10,000 steps is a batch of its own. */
const ROWS_MAX = 5000

const WEIGHT = `coalesce((SELECT max(idx) + 1 FROM steps WHERE run_id = runs.id), 0)
  + (SELECT count(*) FROM (SELECT 1 FROM logs WHERE run_id = runs.id LIMIT ${ROWS_MAX}) AS l)
  + (SELECT count(*) FROM (SELECT 1 FROM frames WHERE run_id = runs.id LIMIT ${ROWS_MAX}) AS f)`
const ENDED = `SELECT id, ${WEIGHT} FROM runs WHERE status = ? AND finished_at < ?i ORDER BY finished_at LIMIT ?i`
const SETTLED = `SELECT id FROM deliveries WHERE available_at IS NULL AND updated_at < ?i
  AND status IN ('succeeded', 'exhausted', 'dead') ORDER BY updated_at LIMIT ?i`

/** Namespaces whose oldest event is that old: a jump through the index for each. */
const AGED_NAMESPACES = `WITH RECURSIVE spaces (space) AS (
    SELECT min(namespace) FROM events
    UNION ALL
    SELECT (SELECT min(namespace) FROM events WHERE namespace > space) FROM spaces WHERE space IS NOT NULL)
  SELECT space FROM spaces WHERE space IS NOT NULL
    AND (SELECT received_at FROM events WHERE namespace = space ORDER BY position LIMIT 1) < ?i`
/** Ids begin with their time, so the first of a status is the oldest. */
const OLDEST_LIVE = 'SELECT created_at FROM runs WHERE namespace = ? AND status = ? ORDER BY id LIMIT 1'
/** The order of positions is that of arrival, near enough: a window at the front, and what is old of it. */
const OLD_EVENTS = `DELETE FROM events WHERE position IN (
    SELECT position FROM (SELECT position, received_at FROM events WHERE namespace = ? ORDER BY position LIMIT ?i) AS front
    WHERE received_at < ?i)
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

/** What is known to be gone for being old: of what is younger nothing may be missing (see verify). */
const MARK = `INSERT INTO prune_marks (what, up_to) VALUES (?, ?i)
  ON CONFLICT (what) DO UPDATE SET up_to = excluded.up_to WHERE prune_marks.up_to < excluded.up_to`

/** How many rows of the kind went: 0 when there are none left. */
export function* prune({ rows, before, limit }: Pruning): Asking<number> {
  switch (rows) {
    case 'runs.succeeded':
    case 'runs.failed':
    case 'runs.cancelled':
      return yield* marked(
        'runs',
        before,
        pruneRuns(rows.slice('runs.'.length) as EndedStatus, before, limit),
      )
    case 'deliveries':
      return yield* marked(rows, before, pruneDeliveries(before, limit))
    case 'events':
      return yield* marked(rows, before, pruneEvents(before, limit))
    case 'actions':
      return (yield* ask(OLD_ACTIONS, [before, limit])).length
    case 'dedupes':
      return (yield* ask(OVER_DEDUPES, [before, limit])).length
    case 'claims':
      return (yield* ask(OVER_CLAIMS, [before, limit])).length
  }
}

function* marked(what: string, before: number, removing: Asking<number>): Asking<number> {
  const removed = yield* removing
  if (removed > 0) yield* ask(MARK, [what, before])
  return removed
}

/** A run goes with all that is its own. What refers to it from elsewhere finds nothing any more. */
function* pruneRuns(status: EndedStatus, before: number, limit: number): Asking<number> {
  let removed = 0
  for (let weight = 0; removed < limit && weight < ROWS_MAX; ) {
    const ended = (yield* ask(ENDED, [status, before, Math.min(IDS_AT_ONCE, limit - removed)])) as [
      string,
      number,
    ][]
    const ids: string[] = []
    for (const [id, rows] of ended) {
      if (weight >= ROWS_MAX) break
      weight += rows
      ids.push(id)
    }
    if (ids.length === 0) break
    for (const table of ['steps', 'logs', 'frames', 'run_watches']) yield* remove(table, 'run_id', ids)
    yield* remove('payloads', 'id', ids)
    yield* remove('runs', 'id', ids)
    removed += ids.length
  }
  return removed
}

function* pruneDeliveries(before: number, limit: number): Asking<number> {
  const ids = (yield* ask(SETTLED, [before, limit])).map(([id]) => id as string)
  for (let at = 0; at < ids.length; at += IDS_AT_ONCE) {
    const some = ids.slice(at, at + IDS_AT_ONCE)
    yield* remove('delivery_attempts', 'delivery_id', some)
    yield* remove('payloads', 'id', some)
    yield* remove('deliveries', 'id', some)
  }
  return ids.length
}

function* pruneEvents(before: number, limit: number): Asking<number> {
  let removed = 0
  for (const [namespace] of (yield* ask(AGED_NAMESPACES, [before])) as [string][]) {
    if (removed >= limit) break
    const oldest = yield* oldestLive(namespace)
    const held = Math.max(oldest, before - EVENTS_HELD_MS_MAX)
    const gone = yield* ask(OLD_EVENTS, [namespace, limit - removed, Math.min(before, held)])
    removed += gone.length
  }
  return removed
}

/** When the namespace's oldest run that is under way was created; Infinity when there is none. */
function* oldestLive(namespace: string): Asking<number> {
  let oldest = Number.POSITIVE_INFINITY
  for (const status of ['queued', 'running', 'waiting', 'paused']) {
    const [row] = yield* ask(OLDEST_LIVE, [namespace, status])
    if (row) oldest = Math.min(oldest, row[0] as number)
  }
  return oldest
}

function* remove(table: string, column: string, ids: readonly string[]): Asking<Row[]> {
  const holes = Array(IDS_AT_ONCE).fill('?').join(', ')
  const padded = Array.from({ length: IDS_AT_ONCE }, (_, i) => ids[Math.min(i, ids.length - 1)] as string)
  return yield* ask(`DELETE FROM ${table} WHERE ${column} IN (${holes})`, padded)
}
