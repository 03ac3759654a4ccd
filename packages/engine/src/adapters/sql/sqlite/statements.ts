// The SQL of every row operation and every check, in SQLite's words. Looked up by the writer for each operation.

import { SEQ_SPAN } from '../../../domain/seq.ts'
import { LIVE_RUNS } from '../live-queries.ts'
import type { CheckName, OpName, Value } from '../operations.ts'
import { KEY_COLUMNS, NAMESPACE_COLUMNS } from '../rows/admin-row.ts'
import { ATTEMPT_COLUMNS, DELIVERY_COLUMNS, DELIVERY_MOVING } from '../rows/delivery-row.ts'
import { EVENT_COLUMNS } from '../rows/event-row.ts'
import { FLOW_COLUMNS } from '../rows/flow-row.ts'
import { FRAME_COLUMNS } from '../rows/frame-row.ts'
import { LOG_COLUMNS } from '../rows/log-row.ts'
import { APP_COLUMNS, CONTROL_COLUMNS, RUNNER_COLUMNS, WORKFLOW_COLUMNS } from '../rows/registry-row.ts'
import { RUN_COLUMNS, RUN_MOVING } from '../rows/run-row.ts'
import { STEP_COLUMNS, STEP_MOVING } from '../rows/step-row.ts'
import { ENDPOINT_COLUMNS, RECEIVER_COLUMNS } from '../rows/webhook-row.ts'
import type { Connection, Statement } from './connection.ts'

const SETTLED = `('succeeded', 'failed', 'cancelled')`
/** Rows with an id that is theirs everywhere: a second insert is a repeat of the first. */
const ONCE = 'ON CONFLICT (id) DO NOTHING'

/** Operations that are one statement. Parameters in the order change-ops.ts gives them. */
const OP_SQL: Record<Exclude<OpName, 'step.wake'>, string> = {
  'run.insert': insert('runs', RUN_COLUMNS, ONCE),
  // A terminal status never changes, nor what was stored with it.
  'run.update': `UPDATE runs SET ${assign(RUN_MOVING)} WHERE id = ? AND status NOT IN ${SETTLED}`,
  // The fence goes up, so that an owner who has not seen it cannot park the run again or extend its lease.
  'run.askCancel': `UPDATE runs SET cancel_asked = 1, available_at = ?, fence = fence + 1
    WHERE id = ? AND status NOT IN ${SETTLED}`,
  'run.runnerArrived': `UPDATE runs SET available_at = ?
    WHERE namespace = ? AND app = ? AND held_for_runner = 1 AND lease_owner IS NULL AND available_at > ?`,
  // Not a guess at who fits: whoever is first in line is claimed by the same rules, or held again.
  'slot.free': `UPDATE runs SET available_at = ?, held_slot = NULL WHERE id = (
    SELECT id FROM runs WHERE held_slot = ? AND lease_owner IS NULL ORDER BY coalesce(priority, 0) DESC, id LIMIT 1)`,
  'watch.insert': 'INSERT INTO run_watches (namespace, event_name, run_id, condition) VALUES (?, ?, ?, ?)',
  'watch.delete': 'DELETE FROM run_watches WHERE run_id = ?',
  'payload.insert': insert('payloads', ['id', 'body'], ONCE),
  'step.insert': insert('steps', STEP_COLUMNS),
  'wait.insert': `INSERT INTO steps (${STEP_COLUMNS.join(', ')}, namespace)
    VALUES (${holes(STEP_COLUMNS)}, (SELECT namespace FROM runs WHERE id = ?))`,
  'step.update': `UPDATE steps SET ${assign(STEP_MOVING)} WHERE run_id = ? AND idx = ? AND status NOT IN ${SETTLED}`,
  'frame.insert': insert('frames', FRAME_COLUMNS),
  'log.insert': insert('logs', LOG_COLUMNS, 'ON CONFLICT (run_id, dedupe) DO NOTHING'),
  'event.insert': insert('events', EVENT_COLUMNS, ONCE),
  'dedupe.claim': upsert('dedupes', ['namespace', 'app', 'dedupe_id', 'expires_at'], 3),
  'delivery.insert': insert('deliveries', DELIVERY_COLUMNS, ONCE),
  'delivery.update': `UPDATE deliveries SET ${assign(DELIVERY_MOVING)} WHERE id = ?`,
  'attempt.insert': insert('delivery_attempts', ATTEMPT_COLUMNS),
  'app.insert': insert('apps', APP_COLUMNS, 'ON CONFLICT (namespace, name) DO NOTHING'),
  'runner.put': upsert('runners', RUNNER_COLUMNS, 3),
  'workflow.put': upsert('workflows', WORKFLOW_COLUMNS, 3),
  'workflow.delete': 'DELETE FROM workflows WHERE namespace = ? AND app = ? AND name = ?',
  'endpoint.put': upsert('webhook_endpoints', ENDPOINT_COLUMNS, 1),
  'endpoint.delete': 'DELETE FROM webhook_endpoints WHERE id = ? AND namespace = ?',
  'receiver.put': upsert('webhook_receivers', RECEIVER_COLUMNS, 1),
  'receiver.delete': 'DELETE FROM webhook_receivers WHERE id = ? AND namespace = ?',
  'flow.put': upsert('flow_rows', FLOW_COLUMNS, 1),
  'flow.delete': 'DELETE FROM flow_rows WHERE id = ?',
  'control.insert': insert('control_actions', CONTROL_COLUMNS, ONCE),
  'key.insert': insert('api_keys', KEY_COLUMNS),
  'key.revoke': 'UPDATE api_keys SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL',
  'namespace.insert': insert('namespaces', NAMESPACE_COLUMNS, 'ON CONFLICT (name) DO NOTHING'),
  'namespace.suspend': 'UPDATE namespaces SET suspended_at = ? WHERE name = ? AND suspended_at IS NULL',
  'namespace.resume': 'UPDATE namespaces SET suspended_at = NULL WHERE name = ?',
  'admin.changed': 'UPDATE admin_revision SET revision = revision + 1',
}

/** Operations on a row that must be there: nothing changed means that the decision rested on something untrue. */
const MUST_CHANGE: ReadonlySet<OpName> = new Set(['run.update', 'step.update', 'delivery.update'])

const CHECK_SQL: Record<CheckName, string> = {
  'run.fence': 'SELECT fence FROM runs WHERE id = ?',
  steps: 'SELECT 1 FROM steps WHERE run_id = ? AND seq > ? LIMIT 1',
  'delivery.fence': 'SELECT fence FROM deliveries WHERE id = ?',
  'endpoint.version': 'SELECT version FROM webhook_endpoints WHERE id = ?',
  'receiver.version': 'SELECT version FROM webhook_receivers WHERE id = ?',
  'flow.version': 'SELECT version FROM flow_rows WHERE id = ?',
  'flow.none': 'SELECT 1 FROM flow_rows WHERE id = ?',
  slug: 'SELECT 1 FROM webhook_receivers WHERE slug = ?',
  live: LIVE_RUNS,
  watchers: 'SELECT 1 FROM run_watches WHERE namespace = ? AND event_name = ? AND position > ? LIMIT 1',
  waiters: `SELECT run_id, idx FROM steps WHERE namespace = ? AND event_name = ? AND status = 'waiting'`,
  events: 'SELECT 1 FROM events WHERE namespace = ? AND name = ? AND received_at >= ? LIMIT 1',
  // The plus keeps the received_at index out of it.
  eventsAfter: `SELECT 1 FROM events WHERE namespace = ? AND name = ? AND position > ? AND +received_at >= ? LIMIT 1`,
  dedupe: 'SELECT 1 FROM dedupes WHERE namespace = ? AND app = ? AND dedupe_id = ? AND expires_at > ?',
}

/** The prepared statements of one connection. */
export class Statements {
  readonly #ops: Map<string, (params: Value[]) => void>
  readonly #checks: Map<string, Statement>

  constructor(connection: Connection) {
    this.#ops = new Map(
      Object.entries(OP_SQL).map(([name, sql]) => [name, single(connection.prepare(sql), name as OpName)]),
    )
    this.#ops.set('step.wake', wake(connection))
    this.#checks = new Map(Object.entries(CHECK_SQL).map(([name, sql]) => [name, connection.prepare(sql)]))
  }

  op(name: string): (params: Value[]) => void {
    return known(this.#ops.get(name), name)
  }

  check(name: string): Statement {
    return known(this.#checks.get(name), name)
  }
}

function single(statement: Statement, name: OpName): (params: Value[]) => void {
  if (!MUST_CHANGE.has(name)) return params => void statement.run(params)
  return params => {
    if (statement.run(params) === 0) throw new Error(`${name} met no row it may change`)
  }
}

/**
 * `step.woken`, in three statements: the step, if it still waits, with the first seq of the next fence's range; the
 * `queued` frame of a run that was parked; the run. Each reads the fence the run has before the last one raises it.
 * A run that was claimed a moment ago still says `waiting`: its lease must not end for that.
 */
function wake(connection: Connection): (params: Value[]) => void {
  const step = connection.prepare(`UPDATE steps SET status = ?, data = ?, error = ?,
      event_id = coalesce(?, event_id), finished_at = ?,
      seq = (SELECT (fence + 1) * ${SEQ_SPAN} + 1 FROM runs WHERE runs.id = steps.run_id)
    WHERE run_id = ? AND idx = ? AND status = 'waiting'`)
  const frame = connection.prepare(`INSERT INTO frames (run_id, seq, ts, status, attempt)
    SELECT id, (fence + 1) * ${SEQ_SPAN} + 2, ?, 'queued', attempt FROM runs WHERE id = ? AND status = 'waiting'`)
  const run = connection.prepare(`UPDATE runs SET fence = fence + 1,
      available_at = CASE WHEN status = 'waiting' AND lease_owner IS NULL THEN ? ELSE available_at END,
      waiting_for = CASE status WHEN 'waiting' THEN NULL ELSE waiting_for END,
      status = CASE status WHEN 'waiting' THEN 'queued' ELSE status END
    WHERE id = ?`)
  return params => {
    if (step.run(params) === 0) return
    const [at, runId] = params.slice(4) as [number, string]
    frame.run([at, runId])
    run.run([at, runId])
  }
}

function insert(table: string, columns: readonly string[], conflict = ''): string {
  return `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${holes(columns)}) ${conflict}`
}

/** Inserts, or replaces the row with the same key; the key is the first `keyLength` columns. */
function upsert(table: string, columns: readonly string[], keyLength: number): string {
  const sets = columns.slice(keyLength).map(column => `${column} = excluded.${column}`)
  const key = columns.slice(0, keyLength).join(', ')
  return insert(table, columns, `ON CONFLICT (${key}) DO UPDATE SET ${sets.join(', ')}`)
}

function assign(columns: readonly string[]): string {
  return columns.map(column => `${column} = ?`).join(', ')
}

function holes(columns: readonly string[]): string {
  return columns.map(() => '?').join(', ')
}

function known<T>(found: T | undefined, name: string): T {
  if (found === undefined) throw new Error(`no statement for ${name}`)
  return found
}
