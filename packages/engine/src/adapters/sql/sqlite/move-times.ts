// Moves the stored times of a store that one process owns, after its wall clock was set: whatever was to happen after a duration
// still happens after that duration. Times that were requested as such stay: `sleepUntil` and events for later. Schedules compute
// their next instants again after the clock was set back. Called inside the writer's transaction.

import type { StoreTimes } from '../../../ports/store.ts'
import type { BatchQueue } from '../batches/batch-queue.ts'
import { query, type Work } from '../claims/transaction-work.ts'

/** The runs with a time. */
const TIMED = 'SELECT id FROM runs WHERE available_at IS NOT NULL'

/** The wake-up of a sleep until a time, of the run in the outer query. */
const UNTIL = `FROM steps WHERE steps.run_id = runs.id AND steps.op = 'SleepUntil' AND steps.status = 'waiting'`

/**
 * The newest time of the events and runs that came after the last move; for earlier ones, the time to which that move shifted it.
 */
const LATEST = `(SELECT max(newest_at,
    coalesce((SELECT received_at FROM events WHERE position > event_position ORDER BY position DESC LIMIT 1), 0),
    coalesce((SELECT created_at FROM runs WHERE rowid > run_row ORDER BY rowid DESC LIMIT 1), 0)) FROM last_move)`

const STATEMENTS: readonly string[] = [
  `UPDATE last_move SET newest_at = ${LATEST} + ?1,
    event_position = coalesce((SELECT max(position) FROM events), 0),
    run_row = coalesce((SELECT max(rowid) FROM runs), 0)`,
  `UPDATE steps SET wake_at = wake_at + ?1
    WHERE status = 'waiting' AND wake_at IS NOT NULL AND op <> 'SleepUntil' AND run_id IN (${TIMED})`,
  `UPDATE steps SET next_attempt_at = next_attempt_at + ?1 WHERE (status = 'retrying' OR turn_at IS NOT NULL) AND run_id IN (${TIMED})`,
  'UPDATE limit_turns SET asked_at = asked_at + ?1, granted_at = granted_at + ?1, started_at = started_at + ?1',
  `UPDATE flow_rows SET available_at = available_at + ?1, expires_at = expires_at + ?1, version = version + 1 WHERE policy = 'limit'`,
  // The fence rises, so that a decision made before the move reads the new times and is made again.
  `UPDATE runs SET available_at = available_at + ?1, fence = fence + 1,
      roomless_at = CASE WHEN status = 'paused' OR cancel_requested = 1 THEN roomless_at + ?1 ELSE roomless_at END,
      waiting_for = CASE WHEN json_extract(waiting_for, '$.until') IS NOT NULL
          AND NOT EXISTS (SELECT 1 ${UNTIL} AND steps.wake_at = json_extract(waiting_for, '$.until'))
        THEN json_set(waiting_for, '$.until', json_extract(waiting_for, '$.until') + ?1) ELSE waiting_for END
    WHERE available_at IS NOT NULL`,
  `UPDATE runs SET available_at = min(available_at, (SELECT min(steps.wake_at) ${UNTIL}))
    WHERE available_at IS NOT NULL AND lease_owner IS NULL AND EXISTS (SELECT 1 ${UNTIL})`,
  `UPDATE deliveries SET available_at = available_at + ?1, next_attempt_at = next_attempt_at + ?1
    WHERE available_at IS NOT NULL`,
  `UPDATE flow_rows SET available_at = available_at + ?1, due_at = due_at + ?1, version = version + 1, state = json_set(state,
      '$.head.firstAt', json_extract(state, '$.head.firstAt') + ?1,
      '$.head.lastAt', json_extract(state, '$.head.lastAt') + ?1,
      '$.head.fireAt', json_extract(state, '$.head.fireAt') + ?1)
    WHERE available_at IS NOT NULL AND policy IN ('debounce', 'batch') AND json_valid(state)`,
]

/** Ends leases by the earlier time: their decisions are stale, and their rows are claimed again. */
const AFTER_SET_BACK: readonly string[] = [
  // A bulk job continues at once, the event of an end arrives, and turns are counted again. The `due_at` of a job is the time of
  // its creation.
  `UPDATE flow_rows SET available_at = ?1, lease_owner = NULL, version = version + 1
    WHERE policy IN ('bulk', 'ended', 'limit') AND available_at > ?1`,
  `UPDATE flow_rows SET available_at = due_at, lease_owner = NULL, version = version + 1
    WHERE policy = 'event' AND lease_owner IS NOT NULL`,
  // Only the domain can compute the next instant of a schedule from the new time. It does so when the row is claimed.
  `UPDATE flow_rows SET available_at = ?1, lease_owner = NULL, version = version + 1
    WHERE policy IN ('cron', 'schedule') AND available_at > ?1`,
]

/** Adds `by` ms to every time that was set by a duration. `now`: the time after the move. */
export function* moveTimes({ by, now }: { by: number; now: number }): Work<void> {
  for (const sql of STATEMENTS) yield* query(sql, sql.includes('?1') ? [by] : [])
  if (by < 0) for (const sql of AFTER_SET_BACK) yield* query(sql, sql.includes('?1') ? [now] : [])
}

const STRANDED = 'SET available_at = ?1 WHERE available_at > ?1 AND available_at <= ?2 AND lease_owner IS NULL'

/** A schedule made by the earlier time has its first instant about then, or later. */
const MADE_BEFORE_MS = 30_000

/**
 * Makes due at `now` the rows that were already due at a time up to `until`, which the clock showed before it was set back: rows
 * that were committed while the times were moved.
 */
export function* wakeStranded({ now, until }: { now: number; until: number }): Work<void> {
  yield* query(`UPDATE runs ${STRANDED} AND status = 'queued'`, [now, until])
  yield* query(`UPDATE deliveries ${STRANDED}`, [now, until])
  yield* query(`UPDATE flow_rows ${STRANDED} AND policy IN ('bulk', 'ended', 'limit')`, [now, until])
  yield* query(
    `UPDATE flow_rows SET available_at = ?1 WHERE policy IN ('cron', 'schedule') AND available_at > max(?1, ?2)
      AND lease_owner IS NULL`,
    [now, until - MADE_BEFORE_MS],
  )
}

/** The newest time that the store itself has recorded, or 0: the clock of the previous process showed it. */
export function* latestTime(): Work<number> {
  const [row] = yield* query(`SELECT ${LATEST}`, [])
  return row?.[0] as number
}

/** The same as requests to the writer. */
export function timesOf(writer: BatchQueue): StoreTimes {
  return {
    move: moved => writer.submit<void>({ type: 'moveTimes', ...moved }, { refusable: false }),
    wakeStranded: stranded => writer.submit<void>({ type: 'wakeStranded', ...stranded }, { refusable: false }),
    latest: () => writer.submit<number>({ type: 'latestTime' }, { refusable: false }),
  }
}
