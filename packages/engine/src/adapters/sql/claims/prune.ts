// Removes rows whose retention is over, inside the writer's transaction: rows of one kind, a bounded number at a time, found
// through an index. services/admin/prune decides when.

import type { EndedStatus } from '../../../domain/model/run.ts'
import { EVENTS_KEPT_MS_MAX } from '../../../domain/run/retention.ts'
import type { Pruning } from '../../../ports/store.ts'
import type { Row } from '../description/values.ts'
import { KEEP_ENDS } from '../tables/ended-runs.ts'
import { DROP_BUDGETS, EARLY_CALLBACKS } from '../tables/flow-rows.ts'
import { IDLE, LEASED, NEWEST_OF_CHAIN } from '../tables/runs.ts'
import { WAITS_FOR_RUN } from '../tables/steps.ts'
import { FORGET_IDLE } from '../write/fair-turns.ts'
import { OVER_TURNS } from '../write/step-turns.ts'
import { query, type Work } from './transaction-work.ts'

/** Ids in one statement. A shorter list repeats its last id, so that only one statement is prepared. */
const IDS_AT_ONCE = 50
/** The tables whose rows belong to a run. */
const OF_RUN = ['steps', 'logs', 'frames', 'stream_rows', 'streams', 'run_watches', 'run_attributes', 'given_run_ids']
/**
 * Approximate number of steps, logs, frames and stream rows removed with a batch of runs: one run of 10,000 steps is its own
 * batch.
 */
const ROWS_MAX = 1000

const WEIGHT = `coalesce((SELECT max(idx) + 1 FROM steps WHERE run_id = runs.id), 0)
  + (SELECT count(*) FROM (SELECT 1 FROM logs WHERE run_id = runs.id LIMIT ${ROWS_MAX}) AS l)
  + (SELECT count(*) FROM (SELECT 1 FROM frames WHERE run_id = runs.id LIMIT ${ROWS_MAX}) AS f)
  + (SELECT count(*) FROM (SELECT 1 FROM stream_rows WHERE run_id = runs.id LIMIT ${ROWS_MAX}) AS s)`
/** A run stays while a run that cleans up after it needs its steps. */
const NOT_CLEANED = `NOT EXISTS (SELECT 1 FROM runs AS cleanup
  WHERE cleanup.cleanup_of IS NOT NULL AND cleanup.cleanup_of = runs.id AND cleanup.finished_at IS NULL)`
/** The last run of a chain stays while a step has yet to receive its end. */
const NOT_AWAITED = `(awaited IS NULL OR continued_as IS NOT NULL OR NOT EXISTS (SELECT 1 FROM steps
  WHERE awaited_run_id = coalesce(runs.chain_id, runs.id) AND ${WAITS_FOR_RUN}))`
const NOT_NEEDED = `${NOT_CLEANED} AND ${NOT_AWAITED}`
const AWAITED = `(SELECT awaited_run_id FROM steps WHERE ${WAITS_FOR_RUN})`
/** The end of the oldest run that stays for such a reason. */
const OLDEST_NEEDED = `SELECT min(finished_at) FROM (
  SELECT finished_at FROM runs WHERE id IN (SELECT cleanup_of FROM runs
    WHERE cleanup_of IS NOT NULL AND finished_at IS NULL) AND status = ?
  UNION ALL SELECT finished_at FROM runs WHERE id IN ${AWAITED} AND continued_as IS NULL AND status = ?
  UNION ALL SELECT finished_at FROM runs WHERE chain_id IN ${AWAITED} AND ${NEWEST_OF_CHAIN} AND status = ?) AS needed`
/** The budget that may have begun with the chain of the run. */
const OWN_BUDGET = 'CASE WHEN budgets IS NULL THEN NULL ELSE coalesce(chain_id, id) END'
const ENDED = `SELECT id, finished_at, ${WEIGHT}, ${OWN_BUDGET} FROM runs
  WHERE status = ? AND finished_at >= ?i AND finished_at < ?i AND kept_until IS NULL AND ${NOT_NEEDED} ORDER BY finished_at LIMIT ?i`
const KEPT = `SELECT id, finished_at, ${WEIGHT}, ${OWN_BUDGET} FROM runs WHERE kept_until < ?i AND ${NOT_NEEDED} ORDER BY kept_until LIMIT ?i`
const SETTLED = `SELECT id FROM deliveries WHERE available_at IS NULL AND updated_at < ?i
  AND status IN ('succeeded', 'exhausted', 'dead') ORDER BY updated_at LIMIT ?i`

/** Namespaces whose oldest event is that old: one index lookup for each. */
const AGED_NAMESPACES = `WITH RECURSIVE spaces (space) AS (
    SELECT min(namespace) FROM events
    UNION ALL
    SELECT (SELECT min(namespace) FROM events WHERE namespace > space) FROM spaces WHERE space IS NOT NULL)
  SELECT space FROM spaces WHERE space IS NOT NULL
    AND (SELECT received_at FROM events WHERE namespace = space ORDER BY position LIMIT 1) < ?i`
/**
 * Log positions at which live runs were created; their waits look at later events. One row for all idle runs of the namespace,
 * and one for each leased run of any namespace: as many as engines drive.
 */
const LOOKED_BACK_TO = `SELECT NULL, min(log_position) FROM runs WHERE namespace = ? AND ${IDLE}
  UNION ALL SELECT namespace, log_position FROM runs WHERE ${LEASED} AND available_at > 0`
/** An event in the inbox of a live run may still have to start another run. */
const NOT_DELIVERED = 'NOT EXISTS (SELECT 1 FROM delivered_events WHERE event_id = events.id)'
/** A live run may still take a signal of any age. */
const NOT_SIGNAL_OF_LIVE_RUN = `(run_id IS NULL OR NOT EXISTS (SELECT 1 FROM runs WHERE id = events.run_id AND finished_at IS NULL))`
/**
 * Positions are nearly in the order of arrival. Looks at the first positions and removes the old events among them. An event that
 * a live run still looks back at stays until it is even older.
 */
const OLD_EVENTS = `DELETE FROM events WHERE position IN (
    SELECT position FROM (SELECT position, received_at FROM events
      WHERE namespace = ? AND ${NOT_SIGNAL_OF_LIVE_RUN} AND ${NOT_DELIVERED} ORDER BY position LIMIT ?i) AS front
    WHERE received_at < ?i AND (position <= ?i OR received_at < ?i))
  RETURNING position`

const OLD_STREAMS = `SELECT run_id, name FROM streams WHERE dropped IS NULL AND first_at < ?i
  AND (SELECT finished_at FROM runs WHERE id = streams.run_id) < ?i ORDER BY first_at LIMIT ?i`
const DROP_STREAM = 'UPDATE streams SET dropped = 1 WHERE run_id = ? AND name = ? RETURNING name'

/** Removes rows that meet a condition, the oldest first by the column of a time. */
const dropOldest = (table: string, key: string, condition: string, time: string) =>
  `DELETE FROM ${table} WHERE (${key}) IN (SELECT ${key} FROM ${table} WHERE ${condition} ORDER BY ${time} LIMIT ?i)
  RETURNING ${time}`

const OLD_ACTIONS = dropOldest('control_actions', 'id', 'created_at < ?i', 'created_at')
const OVER_DEDUPES = dropOldest('dedupes', 'namespace, app, dedupe_id', 'expires_at <= ?i', 'expires_at')
const OVER_CLAIMS = dropOldest('flow_rows', 'id', 'expires_at <= ?i', 'expires_at')
const OLD_RESULTS = dropOldest('bulk_results', 'bulk_id, run_id', 'expires_at <= ?i', 'expires_at')

const OF_SPAN = 'span = ? AND at < ?i'
const OLD_ROLLUPS = dropOldest('run_rollups', 'span, namespace, app, workflow, at', OF_SPAN, 'at')
const POST_KEY = 'span, namespace, endpoint_id, at, outcome, duration_class'
const OLD_POSTS = dropOldest('endpoint_rollups', POST_KEY, OF_SPAN, 'at')

/** The stored states of the error groups of runs, whose ids follow. */
const STATES_OF_RUNS = `SELECT DISTINCT d.namespace, d.id FROM documents AS d
  JOIN runs ON runs.namespace = d.namespace AND runs.error_key = d.id WHERE d.kind = 'error' AND runs.id IN`
/** The state of a group is removed with the last of its runs. */
const DROP_STATE = `DELETE FROM documents WHERE namespace = ? AND kind = 'error' AND id = ?
  AND NOT EXISTS (SELECT 1 FROM runs WHERE namespace = ? AND error_key = ?) RETURNING id`

/** Rows older than this may have been removed, so that their absence is not a violation (see verify). */
const MARK = `INSERT INTO prune_marks (what, up_to) VALUES (?, ?i)
  ON CONFLICT (what) DO UPDATE SET up_to = excluded.up_to WHERE prune_marks.up_to < excluded.up_to`

/** How far before the removed runs others are looked for: longer than the time between an end and its commit. */
const LOOKED_BACK_MS = 3_600_000

/** Returns how many rows of the kind were removed: 0 when none is left. */
export function* prune({ rows, before, limit }: Pruning): Work<number> {
  switch (rows) {
    case 'runs.succeeded':
    case 'runs.failed':
    case 'runs.cancelled':
      return yield* pruneEnded(rows.slice('runs.'.length) as EndedStatus, before, limit)
    case 'runs.ofWorkflow':
      return yield* pruneKept(before, limit)
    case 'deliveries':
      return yield* marked(rows, before, pruneDeliveries(before, limit))
    case 'events':
      return yield* marked(rows, before, pruneEvents(before, limit))
    case 'streams':
      return yield* dropStreams(before, limit)
    case 'actions':
      return (yield* query(OLD_ACTIONS, [before, limit])).length
    case 'dedupes':
      return (yield* query(OVER_DEDUPES, [before, limit])).length
    case 'claims':
      // The results of a bulk action go before its row, and the turns of a pool before its row.
      return (
        (yield* query(OLD_RESULTS, [before, limit])).length ||
        (yield* query(OVER_TURNS, [before, limit])).length ||
        (yield* query(OVER_CLAIMS, [before, limit])).length ||
        (yield* query(FORGET_IDLE, [limit])).length
      )
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

/**
 * Removes runs that ended with the status. Once none is left, a mark of the status keeps the time, at most once an hour. Later
 * looks begin there; otherwise they would meet the runs of workflows with a retention every time. The mark does not pass a run
 * that stays because another run needs it.
 */
function* pruneEnded(status: EndedStatus, before: number, limit: number): Work<number> {
  const what = `runs.${status}`
  const [mark] = (yield* query('SELECT up_to FROM prune_marks WHERE what = ?', [what])) as [number][]
  const from = mark === undefined ? 0 : Math.min(mark[0], before) - LOOKED_BACK_MS
  const { removed } = yield* pruneRuns(limit, most => query(ENDED, [status, from, before, most]))
  if (removed > 0) yield* query(MARK, ['runs', before])
  else if (mark === undefined || before - mark[0] >= LOOKED_BACK_MS) {
    const [[oldest]] = (yield* query(OLDEST_NEEDED, [status, status, status])) as [[number | null]]
    yield* query(MARK, [what, Math.min(before, oldest ?? before)])
  }
  return removed
}

/** Removes runs whose workflow had a retention for them when they ended. */
function* pruneKept(before: number, limit: number): Work<number> {
  const { removed, newest } = yield* pruneRuns(limit, most => query(KEPT, [before, most]))
  if (removed > 0) yield* query(MARK, ['runs', newest])
  return removed
}

/**
 * Removes the runs that `next` finds, with all their rows. Returns how many, and the time after the newest of their ends.
 * References from elsewhere to a removed run lead nowhere.
 */
function* pruneRuns(limit: number, next: (most: number) => Work<Row[]>): Work<{ removed: number; newest: number }> {
  let removed = 0
  let newest = 0
  for (let weight = 0; removed < limit && weight < ROWS_MAX; ) {
    const ended = (yield* next(Math.min(IDS_AT_ONCE, limit - removed))) as [string, number, number, string | null][]
    const ids: string[] = []
    const budgets: string[] = []
    for (const [id, finishedAt, rows, budget] of ended) {
      if (weight >= ROWS_MAX) break
      weight += rows
      ids.push(id)
      if (budget !== null) budgets.push(budget)
      newest = Math.max(newest, finishedAt + 1)
    }
    if (ids.length === 0) break
    const states = (yield* forIds(STATES_OF_RUNS, ids)) as [string, string][]
    for (const table of OF_RUN) yield* remove(table, 'run_id', ids)
    yield* forIds(`DELETE FROM flow_rows WHERE ${EARLY_CALLBACKS} AND key IN`, ids)
    yield* remove('payloads', 'id', ids)
    yield* forIds(KEEP_ENDS, ids)
    yield* remove('runs', 'id', ids)
    for (const [namespace, key] of states) yield* query(DROP_STATE, [namespace, key, namespace, key])
    if (budgets.length > 0) yield* forIds(DROP_BUDGETS, budgets)
    removed += ids.length
  }
  return { removed, newest }
}

/**
 * Drops the messages of streams that began before the time, of runs that ended before it. The heads of the streams stay, and say
 * that they were dropped.
 */
function* dropStreams(before: number, limit: number): Work<number> {
  const old = (yield* query(OLD_STREAMS, [before, before, limit])) as [runId: string, name: string][]
  for (const [runId, name] of old) {
    yield* query('DELETE FROM stream_rows WHERE run_id = ? AND name = ? RETURNING n', [runId, name])
    yield* query(DROP_STREAM, [runId, name])
  }
  return old.length
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
    const params = [namespace, limit - removed, before, free, before - EVENTS_KEPT_MS_MAX]
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
