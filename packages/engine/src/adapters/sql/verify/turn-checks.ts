// Checks of turns at limits that steps share (docs/steps.md#limits-that-steps-share): every step that waits for its turn is in
// the queue, every row of the queue belongs to such a step, and every pool has the row by which it is due.

import { TURN_OPEN, TURN_WAITS } from '../tables/flow-rows.ts'
import type { Check } from './check.ts'

const WAITS_FOR_TURN = `status = 'waiting' AND step_limit IS NOT NULL AND turn_at IS NULL AND next_attempt_at IS NULL`

/** Steps that wait for a turn, of a range of runs. */
export const TURN_CHECKS: readonly Check[] = [
  {
    name: 'step.turn',
    sql: `SELECT s.run_id, s.name FROM steps s WHERE s.run_id > ? AND s.run_id <= ? AND ${WAITS_FOR_TURN}
      AND NOT EXISTS (SELECT 1 FROM limit_turns AS t WHERE t.run_id = s.run_id AND t.idx = s.idx AND ${TURN_OPEN})`,
    message: ([, name]) => `has step "${name}", which waits for a turn but is in no queue`,
  },
]

/** The pools themselves, all at once. */
export const POOL_CHECKS: readonly Check[] = [
  {
    name: 'turn.step',
    sql: `SELECT t.run_id, t.idx FROM limit_turns AS t LEFT JOIN steps AS s ON s.run_id = t.run_id AND s.idx = t.idx
      WHERE t.${TURN_OPEN} AND (s.run_id IS NULL OR s.status <> 'waiting' OR s.step_limit IS NULL
        OR (s.turn_at IS NULL) <> (t.granted_at IS NULL))`,
    message: ([, index]) =>
      `has a turn for step ${index}, but the step does not wait for a turn or has a different record of it`,
  },
  {
    name: 'turn.pool',
    sql: `SELECT DISTINCT t.pool FROM limit_turns AS t
      WHERE NOT EXISTS (SELECT 1 FROM flow_rows WHERE id = t.pool AND policy = 'limit')`,
    message: () => 'has turns, but the pool has no row',
  },
  {
    name: 'turn.due',
    sql: `SELECT f.id, f.workflow FROM flow_rows AS f JOIN step_limits AS l ON l.namespace = f.namespace AND l.app = f.app AND l.name = f.workflow
      WHERE f.policy = 'limit' AND f.available_at IS NULL
        AND EXISTS (SELECT 1 FROM limit_turns AS t WHERE t.pool = f.id AND ${TURN_WAITS})
        AND NOT EXISTS (SELECT 1 FROM limit_turns AS t WHERE t.pool = f.id AND t.granted_at IS NOT NULL AND ${TURN_OPEN})`,
    message: ([, name]) => `is a pool of the limit "${name}" whose waiting steps will never get a turn`,
  },
]
