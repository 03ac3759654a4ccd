// The SQL of every row operation and every check, in words that all our dialects know. A placeholder says what it takes
// where that is no text: `?i` an integer, `?r` a real number. Each driver makes its own form of it.

import { STARTS_WOKEN_MAX } from '../../../domain/holds/throttle.ts'
import { SEQ_SPAN } from '../../../domain/model/seq.ts'
import { LIVE_RUNS } from '../reads/live-queries.ts'
import { KEY_COLUMNS, NAMESPACE_COLUMNS } from '../tables/admin.ts'
import { ATTEMPT_COLUMNS, DELIVERY_COLUMNS, DELIVERY_MOVING } from '../tables/deliveries.ts'
import { EVENT_COLUMNS } from '../tables/events.ts'
import { FLOW_COLUMNS } from '../tables/flow-rows.ts'
import { FRAME_COLUMNS } from '../tables/frames.ts'
import { LOG_COLUMNS } from '../tables/logs.ts'
import type { CheckName, OpName } from '../tables/operations.ts'
import { APP_COLUMNS, CONTROL_COLUMNS, RUNNER_COLUMNS, WORKFLOW_COLUMNS } from '../tables/registry.ts'
import { RUN_COLUMNS, RUN_MOVING } from '../tables/runs.ts'
import { STEP_COLUMNS, STEP_MOVING } from '../tables/steps.ts'
import { ENDPOINT_COLUMNS, RECEIVER_COLUMNS } from '../tables/webhooks.ts'

/** Where a column of the schema is no text. */
const INTEGERS: ReadonlySet<string> = new Set(
  `created_at updated_at started_at finished_at received_at available_at next_attempt_at wake_at last_seen_at revoked_at
  suspended_at expires_at previous_until ts seq started_seq finished_seq idx step_index
  parent_step_index fence attempt transport_tries attempt_count max_attempts last_status_code status_code duration_ms
  invoke_timeout_ms woke cancel_requested leased_without_slots held_for_runner carried timed_out enabled on_failure flow_rows.version
  webhook_endpoints.version webhook_receivers.version`.split(/\s+/),
)

const SETTLED = `('succeeded', 'failed', 'cancelled')`
/** Rows with an id that is theirs everywhere: a second insert is a repeat of the first. */
const ONCE = 'ON CONFLICT (id) DO NOTHING'

/** The first runs in the queue of a slot or of a throttle, whose id is the parameter; how many follows `LIMIT`. */
const firstInQueue = (
  column: 'waits_for_slot' | 'start_queue',
) => `FROM runs WHERE ${column} = ? AND lease_owner IS NULL
  ORDER BY coalesce(priority, 0) DESC, id LIMIT`
export const FIRST_WAITING_FOR_SLOT = firstInQueue('waits_for_slot')
export const FIRST_IN_START_QUEUE = firstInQueue('start_queue')

/** Operations that are one statement. Parameters in the order change-ops.ts gives them. */
export const OP_SQL: Record<Exclude<OpName, 'step.wake'>, string> = {
  'run.insert': insert('runs', RUN_COLUMNS, ONCE),
  // A terminal status never changes, nor what was stored with it.
  'run.update': `UPDATE runs SET ${assign('runs', RUN_MOVING)} WHERE id = ? AND status NOT IN ${SETTLED}`,
  // The fence goes up, so that an owner who has not seen it cannot park the run again or extend its lease.
  'run.requestCancel': `UPDATE runs SET cancel_requested = 1, available_at = ?i, fence = fence + 1
    WHERE id = ? AND status NOT IN ${SETTLED}`,
  'run.runnerArrived': `UPDATE runs SET available_at = ?i
    WHERE namespace = ? AND app = ? AND held_for_runner = 1 AND lease_owner IS NULL AND available_at > ?i`,
  // Not a guess at who fits: whoever is first in line is claimed by the same rules, or held again.
  'slot.free': `UPDATE runs SET available_at = ?i, waits_for_slot = NULL WHERE id = (SELECT id ${FIRST_WAITING_FOR_SLOT} 1)`,
  // Its place in line is a run's until it is claimed. The limit within is for PostgreSQL, which plans without the other.
  'startQueue.wake': `UPDATE runs SET available_at = ?i
    WHERE id IN (SELECT id FROM (SELECT id ${FIRST_IN_START_QUEUE} ${STARTS_WOKEN_MAX}) AS first LIMIT ?i)
      AND (available_at IS NULL OR available_at > ?i)`,
  'watch.insert': 'INSERT INTO run_watches (namespace, event_name, run_id, condition) VALUES (?, ?, ?, ?)',
  'watch.delete': 'DELETE FROM run_watches WHERE run_id = ?',
  'payload.insert': insert('payloads', ['id', 'body'], ONCE),
  'step.insert': insert('steps', STEP_COLUMNS),
  'wait.insert': `INSERT INTO steps (${STEP_COLUMNS.join(', ')}, namespace)
    VALUES (${holes('steps', STEP_COLUMNS)}, (SELECT namespace FROM runs WHERE id = ?))`,
  'step.update': `UPDATE steps SET ${assign('steps', STEP_MOVING)} WHERE run_id = ? AND idx = ?i AND status NOT IN ${SETTLED}`,
  'frame.insert': insert('frames', FRAME_COLUMNS),
  'log.insert': insert('logs', LOG_COLUMNS, 'ON CONFLICT (run_id, dedupe) DO NOTHING'),
  'event.insert': insert('events', EVENT_COLUMNS, ONCE),
  'dedupe.claim': upsert('dedupes', ['namespace', 'app', 'dedupe_id', 'expires_at'], 3),
  'delivery.insert': insert('deliveries', DELIVERY_COLUMNS, ONCE),
  'delivery.update': `UPDATE deliveries SET ${assign('deliveries', DELIVERY_MOVING)} WHERE id = ?`,
  'attempt.insert': insert('delivery_attempts', ATTEMPT_COLUMNS),
  'app.insert': insert('apps', APP_COLUMNS, 'ON CONFLICT (namespace, name) DO NOTHING'),
  'runner.put': upsert('runners', RUNNER_COLUMNS, 3),
  'runner.delete': 'DELETE FROM runners WHERE namespace = ? AND app = ? AND runner_id = ?',
  'workflow.put': upsert('workflows', WORKFLOW_COLUMNS, 3),
  'workflow.delete': 'DELETE FROM workflows WHERE namespace = ? AND app = ? AND name = ?',
  'endpoint.put': upsert('webhook_endpoints', ENDPOINT_COLUMNS, 1),
  'endpoint.delete': 'DELETE FROM webhook_endpoints WHERE id = ? AND namespace = ?',
  'receiver.put': upsert('webhook_receivers', RECEIVER_COLUMNS, 1),
  'receiver.delete': 'DELETE FROM webhook_receivers WHERE id = ? AND namespace = ?',
  'flow.put': upsert('flow_rows', FLOW_COLUMNS, 1),
  'flow.delete': 'DELETE FROM flow_rows WHERE id = ?',
  'control.put': upsert('control_actions', CONTROL_COLUMNS, 1),
  'key.insert': insert('api_keys', KEY_COLUMNS),
  'key.revoke': 'UPDATE api_keys SET revoked_at = ?i WHERE id = ? AND revoked_at IS NULL',
  'namespace.insert': insert('namespaces', NAMESPACE_COLUMNS, 'ON CONFLICT (name) DO NOTHING'),
  'namespace.suspend': 'UPDATE namespaces SET suspended_at = ?i WHERE name = ? AND suspended_at IS NULL',
  'namespace.resume': 'UPDATE namespaces SET suspended_at = NULL WHERE name = ?',
  'admin.changed': 'UPDATE admin_revision SET revision = revision + 1',
  'catalog.changed': 'UPDATE catalog_revision SET revision = revision + 1',
}

/** Operations on a row that must be there: nothing changed means that the decision rested on something untrue. */
export const MUST_CHANGE: ReadonlySet<OpName> = new Set(['run.update', 'step.update', 'delivery.update'])

export const CHECK_SQL: Record<CheckName, string> = {
  'run.fence': 'SELECT fence FROM runs WHERE id = ?',
  steps: 'SELECT 1 FROM steps WHERE run_id = ? AND seq > ?i LIMIT 1',
  'delivery.fence': 'SELECT fence FROM deliveries WHERE id = ?',
  'endpoint.version': 'SELECT version FROM webhook_endpoints WHERE id = ?',
  'receiver.version': 'SELECT version FROM webhook_receivers WHERE id = ?',
  'flow.version': 'SELECT version FROM flow_rows WHERE id = ?',
  'flow.none': 'SELECT 1 FROM flow_rows WHERE id = ?',
  slug: 'SELECT 1 FROM webhook_receivers WHERE slug = ?',
  live: LIVE_RUNS,
  watchers: 'SELECT 1 FROM run_watches WHERE namespace = ? AND event_name = ? AND position > ?i LIMIT 1',
  waiters: `SELECT run_id, idx FROM steps WHERE namespace = ? AND event_name = ? AND status = 'waiting'`,
  events: 'SELECT 1 FROM events WHERE namespace = ? AND name = ? AND received_at >= ?i LIMIT 1',
  // The plus keeps the received_at index out of it.
  eventsAfter: `SELECT 1 FROM events WHERE namespace = ? AND name = ? AND position > ?i AND +received_at >= ?i LIMIT 1`,
  dedupe: 'SELECT 1 FROM dedupes WHERE namespace = ? AND app = ? AND dedupe_id = ? AND expires_at > ?i',
  catalog: 'SELECT revision FROM catalog_revision',
}

/**
 * `step.woken`, in three statements: the step, if it still waits, with the first seq of the next fence's range; then,
 * if it did, the `queued` frame of a run that was parked; the run. Each reads the fence the run has before the last one
 * raises it. A run that was claimed a moment ago still says `waiting`: its lease must not end for that.
 */
export const WAKE_SQL = {
  /** Status, data, error, event id, time, run id, step index. */
  step: `UPDATE steps SET status = ?, data = ?, error = ?,
      event_id = coalesce(?, event_id), finished_at = ?i,
      seq = (SELECT (fence + 1) * ${SEQ_SPAN} + 1 FROM runs WHERE runs.id = steps.run_id)
    WHERE run_id = ? AND idx = ?i AND status = 'waiting'`,
  /** Time, run id. */
  frame: `INSERT INTO frames (run_id, seq, ts, status, attempt)
    SELECT id, (fence + 1) * ${SEQ_SPAN} + 2, ?i, 'queued', attempt FROM runs WHERE id = ? AND status = 'waiting'`,
  /** Time, run id. */
  run: `UPDATE runs SET fence = fence + 1,
      available_at = CASE WHEN status = 'waiting' AND lease_owner IS NULL THEN ?i ELSE available_at END,
      waiting_for = CASE status WHEN 'waiting' THEN NULL ELSE waiting_for END,
      status = CASE status WHEN 'waiting' THEN 'queued' ELSE status END
    WHERE id = ?`,
}

function hole(table: string, column: string): string {
  if (column === 'priority') return '?r'
  return INTEGERS.has(column) || INTEGERS.has(`${table}.${column}`) ? '?i' : '?'
}

function insert(table: string, columns: readonly string[], conflict = ''): string {
  return `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${holes(table, columns)}) ${conflict}`
}

/** Inserts, or replaces the row with the same key; the key is the first `keyLength` columns. */
function upsert(table: string, columns: readonly string[], keyLength: number): string {
  const sets = columns.slice(keyLength).map(column => `${column} = excluded.${column}`)
  const key = columns.slice(0, keyLength).join(', ')
  return insert(table, columns, `ON CONFLICT (${key}) DO UPDATE SET ${sets.join(', ')}`)
}

function assign(table: string, columns: readonly string[]): string {
  return columns.map(column => `${column} = ${hole(table, column)}`).join(', ')
}

function holes(table: string, columns: readonly string[]): string {
  return columns.map(column => hole(table, column)).join(', ')
}
