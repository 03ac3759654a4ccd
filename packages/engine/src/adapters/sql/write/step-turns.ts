// Turns at the limits that steps share (docs/steps.md#limits-that-steps-share). A pool has the turns of one limit and key: its
// row is a flow-control row, which is due when the next turn is free. The granting transaction reads the limit and its period:
// every engine counts by the newest registration, and writers go one after the other, so no two of them grant the same turn.

import { TURN_OPEN, TURN_TAKEN, TURN_WAITS } from '../tables/flow-rows.ts'

/** Most turns of one grant. The row of the pool stays due if more are free. */
const GRANTED_MAX = 100

const OF_POOL =
  'FROM flow_rows AS pools JOIN step_limits AS l ON l.namespace = pools.namespace AND l.app = pools.app AND l.name = pools.workflow'
/** Parameter: the pool. */
const PERIOD = `(SELECT l.period_ms ${OF_POOL} WHERE pools.id = ?)`
/** The free turns of a pool; none without a limit of that name. Parameters: now, pool. */
const FREE = `(SELECT coalesce(max(CASE WHEN counted.free > 0 THEN counted.free ELSE 0 END), 0) FROM (
    SELECT l.turns - (SELECT count(*) FROM limit_turns AS taken WHERE taken.pool = pools.id AND ${TURN_TAKEN}
      AND (taken.started_at IS NULL OR taken.started_at > ?i - l.period_ms)) AS free
    ${OF_POOL} WHERE pools.id = ?) AS counted)`
/** Follows SELECT: the steps that get the free turns. The inner limit is for PostgreSQL, whose planner does not know the outer one. Parameters: pool, now, pool. */
const NEXT = `FROM (SELECT place, run_id, idx FROM limit_turns WHERE pool = ? AND ${TURN_WAITS}
    ORDER BY place LIMIT ${GRANTED_MAX}) AS waiting ORDER BY place LIMIT ${FREE}`

const OF_STEP = `run_id = ? AND idx = ?i AND ${TURN_OPEN}`

/** Statements about turns of steps, for the table of operations. */
export const STEP_TURN_OPERATIONS = {
  'stepTurn.pool': `INSERT INTO flow_rows (id, namespace, app, workflow, policy, key, version, state)
    VALUES (?, ?, ?, ?, 'limit', ?, 1, '{}') ON CONFLICT (id) DO NOTHING`,
  'stepTurn.ask': `INSERT INTO limit_turns (pool, place, run_id, idx, asked_at)
    SELECT ?, coalesce(max(place), 0) + 1, ?, ?i, ?i FROM limit_turns WHERE pool = ?`,
  'stepTurn.start': `UPDATE limit_turns SET started_at = ?i WHERE ${OF_STEP} AND ${TURN_TAKEN}`,
  'stepTurn.leave': `DELETE FROM limit_turns WHERE ${OF_STEP}`,
  'stepTurns.hold': `UPDATE limit_turns SET held = 1, granted_at = NULL WHERE run_id = ? AND ${TURN_OPEN}`,
  'stepTurns.release': `UPDATE limit_turns SET held = NULL WHERE run_id = ? AND ${TURN_OPEN}`,
  // Five operations grant turns. Turns that no longer count are removed first.
  'stepTurns.forget': `DELETE FROM limit_turns WHERE pool = ? AND started_at <= ?i - ${PERIOD}`,
  // A run under way on an engine meets the raised fence, and looks again before it parks.
  'stepTurns.runs': `UPDATE runs SET fence = fence + 1,
      available_at = CASE WHEN status = 'waiting' AND lease_owner IS NULL THEN ?i ELSE available_at END
    WHERE id IN (SELECT run_id ${NEXT})`,
  'stepTurns.steps': `UPDATE steps SET turn_at = ?i WHERE (run_id, idx) IN (SELECT run_id, idx ${NEXT}) AND status = 'waiting'`,
  'stepTurns.grant': `UPDATE limit_turns SET granted_at = ?i WHERE pool = ? AND place IN (SELECT place ${NEXT})`,
  'stepTurns.next': `UPDATE flow_rows SET version = version + 1, lease_owner = NULL,
      available_at = CASE WHEN EXISTS (SELECT 1 FROM limit_turns AS waiting WHERE waiting.pool = flow_rows.id AND ${TURN_WAITS})
        THEN CASE WHEN ${FREE} > 0 THEN ?i ELSE
          (SELECT min(started_at) FROM limit_turns AS taken WHERE taken.pool = flow_rows.id AND ${TURN_TAKEN}) + ${PERIOD} END END,
      expires_at = CASE WHEN NOT EXISTS (SELECT 1 FROM limit_turns AS unused WHERE unused.pool = flow_rows.id AND ${TURN_OPEN})
        THEN coalesce((SELECT max(started_at) FROM limit_turns AS taken WHERE taken.pool = flow_rows.id), ?i) + coalesce(${PERIOD}, 0) END
    WHERE id = ?`,
  // The limit has changed: the timers grant by it.
  'stepTurns.due': `UPDATE flow_rows SET available_at = ?i, lease_owner = NULL, version = version + 1
    WHERE namespace = ? AND app = ? AND workflow = ? AND policy = 'limit'`,
  'stepLimit.delete': 'DELETE FROM step_limits WHERE namespace = ? AND app = ? AND name = ?',
  'stepLimit.deleteOf': 'DELETE FROM step_limits WHERE namespace = ? AND app = ?',
} as const

/** Removes the turns of pools that are over. Parameters: now, the most rows to remove. */
export const OVER_TURNS = `DELETE FROM limit_turns WHERE (pool, place) IN (
    SELECT pool, place FROM flow_rows JOIN limit_turns ON pool = id WHERE policy = 'limit' AND expires_at <= ?i LIMIT ?i)
  RETURNING place`
