// The SQL of every row operation, in the part of SQL that both dialects have. Placeholders: `?` for a text, `?i` for an
// integer, `?r` for a real number. Each dialect converts them to its own form.

import { ROOT_SCOPE } from '@perdure/protocol'
import { STARTS_WOKEN_MAX } from '../../../domain/holds/throttle.ts'
import { SEQ_SPAN } from '../../../domain/model/seq.ts'
import { DEFINITIONS_MAX } from '../../../domain/registry/definition-history.ts'
import type { Table } from '../description/table.ts'
import { ADMIN_REVISION, API_KEYS, NAMESPACES } from '../tables/admin.ts'
import { CATALOG_REVISION } from '../tables/bookkeeping.ts'
import { BULK_RESULTS } from '../tables/bulk-results.ts'
import { CONTROL_ACTIONS } from '../tables/control-actions.ts'
import { ATTEMPTS, DELIVERIES } from '../tables/deliveries.ts'
import { DOCUMENTS, ERASE_ERROR_STATE } from '../tables/document/documents.ts'
import { KEEP_ENDS } from '../tables/ended-runs.ts'
import { COUNT_POST } from '../tables/endpoint-rollups.ts'
import { ERASED_RUNS } from '../tables/erased-runs.ts'
import { DEDUPES, EVENTS } from '../tables/events.ts'
import { BUDGETS, DROP_BUDGETS, EARLY_CALLBACKS, FLOW_ROWS, SCHEDULED_TERMS } from '../tables/flow-rows.ts'
import { FRAMES } from '../tables/frames.ts'
import { GIVEN_RUN_IDS } from '../tables/given-run-ids.ts'
import { LOGS } from '../tables/logs.ts'
import { PAYLOADS } from '../tables/payloads.ts'
import { APPS, RUNNERS, STEP_LIMITS, WORKFLOWS } from '../tables/registry.ts'
import { FOLLOWS_RUN_OF_EVENT, NEWEST_OF_CHAIN, RUN_WATCHES, RUNS } from '../tables/runs.ts'
import { FINAL_STATUSES } from '../tables/statuses.ts'
import { STEPS, WAITS_FOR_RUN } from '../tables/steps.ts'
import { MERGE_OPERATIONS, STREAM_ROWS, STREAMS } from '../tables/streams/streams.ts'
import { ENDPOINTS, RECEIVERS } from '../tables/webhooks.ts'
import { WORKFLOW_DEFINITIONS } from '../tables/workflow-definitions.ts'
import { firstInQueue, NEXT_FOR_SLOT, TURN_OPERATIONS } from './fair-turns.ts'
import { STEP_TURN_OPERATIONS } from './step-turns.ts'

const PLACEHOLDERS = { text: '?', integer: '?i', real: '?r' } as const
/** Ids are unique everywhere: a second insert repeats the first. */
const ONCE = 'ON CONFLICT (id) DO NOTHING'

/** The first runs in the start queue of a throttle; its id is the parameter, and `LIMIT` follows with the number of runs. */
export const FIRST_IN_START_QUEUE = firstInQueue('start_queue')

/** Makes a run due as of its creation, so that younger runs that are due do not overtake it. Parameters: now, twice. */
export const AVAILABLE_IN_ORDER = 'available_at = CASE WHEN created_at < ?i THEN created_at ELSE ?i END'

/** Parameters: status, end, end, id. */
const IS_LATE = `(SELECT 1 FROM rollup_marks AS m WHERE m.status = ?
    AND (m.ended_at > ?i OR (m.ended_at = ?i AND m.run_id >= ?)))`

/** Follows SELECT: the position of the newest event. */
export const NEWEST_POSITION = 'coalesce(max(position), 0) FROM events'

/** Deliveries of a run: its notices, and the sends of its steps. */
const SENT = `SELECT id FROM deliveries WHERE source_run_id = ?
  UNION ALL SELECT delivery_id FROM steps WHERE run_id = ? AND delivery_id IS NOT NULL`

/** The first parameter is the attribute. */
const INSERT_ATTRIBUTE = `INSERT INTO run_attributes (namespace, attribute, run_id, app, workflow, ended)
    SELECT namespace, ?, id, app, workflow, CASE WHEN status IN ${FINAL_STATUSES} THEN status ELSE 'live' END FROM runs`

/** The entries of an event for workflows, and the event that opened the buffer of an entry; without a buffer NULL. */
const BUFFERED = 'json_each(events.triggered) AS entry'
const BUFFER_OPENED_BY = `entry.value ->> 'firstEventId'`

/** No step of the run, whose id is the next parameter, has taken the signal. */
const NOT_TAKEN = 'id NOT IN (SELECT event_id FROM steps WHERE run_id = ? AND event_id IS NOT NULL)'

/** The operations that erase what belongs to a run, in their order. The parameter of each is its id. */
export const ERASE_OWN_OPERATIONS = {
  // The roll-ups count it later.
  'erase.keepEnd': `${KEEP_ENDS} (?)`,
  'erase.steps': 'DELETE FROM steps WHERE run_id = ?',
  'erase.attributes': 'DELETE FROM run_attributes WHERE run_id = ?',
  'erase.logs': 'DELETE FROM logs WHERE run_id = ?',
  'erase.frames': 'DELETE FROM frames WHERE run_id = ?',
  'erase.streamRows': 'DELETE FROM stream_rows WHERE run_id = ?',
  'erase.streams': 'DELETE FROM streams WHERE run_id = ?',
  'watch.delete': 'DELETE FROM run_watches WHERE run_id = ?',
  'erase.callbacks': `DELETE FROM flow_rows WHERE ${EARLY_CALLBACKS} AND key = ?`,
  'erase.signals': 'UPDATE events SET data = NULL, answer = NULL, erased = 1 WHERE run_id = ?',
  'erase.input': 'DELETE FROM payloads WHERE id = ?',
  'erase.run': 'DELETE FROM runs WHERE id = ?',
} as const

/** Operations that are one statement. Parameters in the order that change-operations.ts gives them. */
export const OPERATIONS = {
  'run.insert': `INSERT INTO runs (${RUNS.columns.join(', ')}, log_position)
    VALUES (${placeholders(RUNS)}, (SELECT ${NEWEST_POSITION})) ${ONCE}`,
  // A terminal status never changes, nor does anything that was stored with it.
  'run.update': `UPDATE runs SET ${assignMoving(RUNS)} WHERE id = ? AND status NOT IN ${FINAL_STATUSES}`,
  // The same for a run that ends: the roll-ups look for it if they have passed its time (rollups/count-ends.ts).
  'run.end': `UPDATE runs SET ${assignMoving(RUNS)}, late = ${IS_LATE} WHERE id = ? AND status NOT IN ${FINAL_STATUSES}`,
  // The fence rises, so that an owner who has not seen the request can neither park the run nor extend its lease.
  'run.requestCancel': `UPDATE runs SET cancel_requested = 1, skips_cleanup = coalesce(?i, skips_cleanup), available_at = ?i, roomless_at = ?i, fence = fence + 1
    WHERE id = ? AND status NOT IN ${FINAL_STATUSES}`,
  // The newest run of a chain, by the id of its first one.
  'chain.requestCancel': `UPDATE runs SET cancel_requested = 1, skips_cleanup = coalesce(?i, skips_cleanup), available_at = ?i, roomless_at = ?i, fence = fence + 1
    WHERE chain_id = ? AND ${NEWEST_OF_CHAIN} AND status NOT IN ${FINAL_STATUSES}`,
  // The fence rises, so that an owner who has not seen the mark cannot end the run.
  'run.await': `UPDATE runs SET awaited = 1, fence = fence + 1 WHERE id = ? AND status NOT IN ${FINAL_STATUSES}`,
  // The same for the first signal.
  'run.signal': `UPDATE runs SET signalled = 1, fence = fence + 1 WHERE id = ? AND status NOT IN ${FINAL_STATUSES}`,
  // The same for the first event that is delivered to the run.
  'run.deliver': `UPDATE runs SET inbox = id, fence = fence + 1
    WHERE id = ? AND inbox IS NULL AND status NOT IN ${FINAL_STATUSES}`,
  'event.deliver': `INSERT INTO delivered_events (inbox, event_id, position, sent)
    SELECT coalesce(r.inbox, r.id), e.id, e.position, ? FROM runs AS r, events AS e WHERE r.id = ? AND e.id = ? ON CONFLICT DO NOTHING`,
  'inbox.take': 'DELETE FROM delivered_events WHERE inbox = ? AND event_id = ?',
  // The next run sees what is left in the inbox, although it came earlier.
  'inbox.lookBack': `UPDATE runs SET inbox_until = log_position,
      log_position = (SELECT min(position) - 1 FROM delivered_events WHERE inbox = runs.inbox)
    WHERE id = ? AND inbox_until IS NULL AND EXISTS (SELECT 1 FROM delivered_events WHERE inbox = runs.inbox)`,
  // One line for all signals that no step of the ended run has taken.
  'signals.log': `INSERT INTO logs (run_id, seq, ts, level, message, scope, attempt, idx, dedupe)
    SELECT ?, ?i, ?i, 'warn', 'The run ended and left ' || count(*) || CASE count(*) WHEN 1 THEN ' signal' ELSE ' signals' END
      || ' that no step has taken.', '${ROOT_SCOPE}', 1, 0, 'signals'
    FROM events WHERE run_id = ? AND ${NOT_TAKEN} HAVING count(*) > 0`,
  // Passes signals to the next run of the chain: signals that no step has taken, or one that the handler was not given.
  'signals.pass': `UPDATE events SET run_id = ?, name = ? || substr(name, CAST(?i AS integer)) WHERE run_id = ? AND ${NOT_TAKEN}`,
  'signal.pass':
    'UPDATE events SET run_id = ?, name = ? || substr(name, CAST(?i AS integer)) WHERE id = ? AND run_id = ?',
  'update.answer': `UPDATE events SET answer = ? WHERE id = ? AND namespace = ? AND run_id = ? AND source = 'update' AND answer IS NULL`,
  // Two operations make all waits for the end of a run due. A run under way on an engine meets the raised fence, and looks again
  // before it parks.
  'waits.runs': `UPDATE runs SET fence = fence + 1,
      available_at = CASE WHEN status IN ('waiting', 'paused') AND lease_owner IS NULL THEN ?i ELSE available_at END
    WHERE id IN (SELECT run_id FROM steps WHERE awaited_run_id = ? AND ${WAITS_FOR_RUN})`,
  'waits.steps': `UPDATE steps SET wake_at = ?i WHERE awaited_run_id = ? AND ${WAITS_FOR_RUN}`,
  'run.runnerArrived': `UPDATE runs SET available_at = ?i
    WHERE namespace = ? AND app = ? AND held_for_runner = 1 AND lease_owner IS NULL AND available_at > ?i`,
  // The last parameters are both the list of workflows, each between line breaks, which no name contains. Both dialects have
  // `replace`: it changes the list if it contains the run's workflow.
  'run.runnerServes': `UPDATE runs SET available_at = ?i
    WHERE namespace = ? AND app = ? AND held_for_runner = 1 AND lease_owner IS NULL AND available_at > ?i
      AND replace(?, '\n' || workflow || '\n', '\n') <> ?`,
  // Runs of any app may wait for the workflow of a child.
  'run.childArrived': `UPDATE runs SET available_at = ?i
    WHERE namespace = ? AND held_for_runner = 1 AND status = 'waiting' AND lease_owner IS NULL AND available_at > ?i`,
  'run.workflowWoken': `UPDATE runs SET ${AVAILABLE_IN_ORDER}
    WHERE namespace = ? AND waiting_kind = ? AND app = ? AND workflow = ? AND lease_owner IS NULL`,
  // Any run of a queue that reaches the throttle wakes the first one.
  'run.throttleWoken': `UPDATE runs SET ${AVAILABLE_IN_ORDER} WHERE id IN (SELECT min(id) FROM runs
    WHERE namespace = ? AND waiting_kind = ? AND app = ? AND workflow = ? AND lease_owner IS NULL GROUP BY start_queue)`,
  // Makes the first run in the queue due. A claim decides about it as about any other run, and it may wait again.
  'slot.free': `UPDATE runs SET ${AVAILABLE_IN_ORDER}, waits_for_slot = NULL WHERE id = ${NEXT_FOR_SLOT}`,
  // A run keeps its place in the queue until it is claimed. The inner limit is for PostgreSQL, whose planner does not know
  // the outer one.
  'startQueue.wake': `UPDATE runs SET available_at = ?i
    WHERE id IN (SELECT id FROM (SELECT id ${FIRST_IN_START_QUEUE} ${STARTS_WOKEN_MAX}) AS first LIMIT ?i)
      AND (available_at IS NULL OR available_at > ?i)`,
  ...TURN_OPERATIONS,
  ...STEP_TURN_OPERATIONS,
  'stepLimit.put': upsert(STEP_LIMITS),
  'budget.begin': insert(BUDGETS, 'ON CONFLICT (id, name) DO NOTHING'),
  // Only names that have, or had, a limit have a row. A sum this high stays as it is: one more might not be exact.
  'budget.spend': `UPDATE budgets SET whole = whole + ?i + (billionths + ?i) / 1000000000, billionths = (billionths + ?i) % 1000000000
    WHERE id = ? AND name = ? AND whole < ${2 ** 52}`,
  'budget.limit': `INSERT INTO budgets (id, name, spend_limit, whole, billionths, revision)
    SELECT id, ?, ?r, 0, 0, 0 FROM budgets WHERE id = ? AND name = 'runs'
    ON CONFLICT (id, name) DO UPDATE SET spend_limit = excluded.spend_limit, revision = budgets.revision + 1`,
  'run.attributes': 'UPDATE runs SET attributes = ? WHERE id = ?',
  'run.keep': 'UPDATE runs SET kept_until = ?i WHERE id = ?',
  'run.progress': 'UPDATE runs SET progress = ? WHERE id = ?',
  // Adds an attribute of a new run. A repeated insert of the run does not restore attributes that it has lost since: its fence
  // has risen.
  'attribute.create': `${INSERT_ATTRIBUTE} WHERE id = ? AND fence = ?i ON CONFLICT DO NOTHING`,
  'attribute.insert': `${INSERT_ATTRIBUTE} WHERE id = ? ON CONFLICT DO NOTHING`,
  'attribute.delete': 'DELETE FROM run_attributes WHERE attribute = ? AND run_id = ?',
  'attributes.end': 'UPDATE run_attributes SET ended = ? WHERE run_id = ?',
  'erase.attempts': `DELETE FROM delivery_attempts WHERE delivery_id IN (${SENT})`,
  'erase.sentPayloads': `DELETE FROM payloads WHERE id IN (${SENT})`,
  'erase.deliveries': `DELETE FROM deliveries WHERE id IN (${SENT})`,
  'erase.errorState': ERASE_ERROR_STATE,
  ...ERASE_OWN_OPERATIONS,
  'erase.budget': `${DROP_BUDGETS} (?)`,
  // Attributes are the sender's values, like the data.
  'erase.event': `UPDATE events SET data = NULL, erased = 1,
    decided = CASE WHEN decided LIKE '%"attributes":%' THEN NULL ELSE decided END WHERE id = ? AND namespace = ?
    AND NOT EXISTS (SELECT 1 FROM runs WHERE event_id = events.id)
    AND NOT EXISTS (SELECT 1 FROM delivered_events WHERE event_id = events.id)
    AND NOT EXISTS (SELECT 1 FROM runs WHERE ${FOLLOWS_RUN_OF_EVENT} AND trigger_id = events.id AND continued_from IS NULL)
    AND NOT EXISTS (SELECT 1 FROM ${BUFFERED} JOIN runs ON runs.first_event_id = ${BUFFER_OPENED_BY}
      WHERE runs.event_ids LIKE '%"' || events.id || '"%' AND runs.continued_from IS NULL)
    AND NOT EXISTS (SELECT 1 FROM ${BUFFERED} JOIN flow_rows ON flow_rows.namespace = events.namespace
      AND flow_rows.app = entry.value ->> 'app' AND flow_rows.workflow = entry.value ->> 'workflow'
      WHERE policy IN ('debounce', 'batch')
        AND state LIKE '%"eventIds":["' || (${BUFFER_OPENED_BY}) || '"%' AND state LIKE '%"' || events.id || '"%')`,
  'erase.mark': insert(ERASED_RUNS, 'ON CONFLICT (id, namespace) DO NOTHING'),
  'givenId.insert': insert(GIVEN_RUN_IDS, 'ON CONFLICT DO NOTHING'),
  'watch.insert': insert(RUN_WATCHES),
  'payload.insert': insert(PAYLOADS, ONCE),
  'step.insert': insert(STEPS),
  'wait.insert': `INSERT INTO steps (${STEPS.columns.join(', ')}, namespace)
    VALUES (${placeholders(STEPS)}, (SELECT namespace FROM runs WHERE id = ?))`,
  'step.update': `UPDATE steps SET ${assignMoving(STEPS)} WHERE run_id = ? AND idx = ?i
    AND (status NOT IN ${FINAL_STATUSES} OR (status = 'failed' AND spent_at IS NOT NULL) OR event_id IS NOT NULL)`,
  // The end of the run cancelled a step that its pass was executing.
  'step.answerLate': `UPDATE steps SET ${assignMoving(STEPS)} WHERE run_id = ? AND idx = ?i
    AND status = 'cancelled' AND op = 'StepRun'`,
  'frame.insert': insert(FRAMES),
  'log.insert': insert(LOGS, 'ON CONFLICT (run_id, dedupe) DO NOTHING'),
  'event.insert': insert(EVENTS, ONCE),
  'stream.insert': insert(STREAMS),
  'stream.update': `UPDATE streams SET ${assignMoving(STREAMS)} WHERE run_id = ? AND name = ? AND next = ?i`,
  'streamRow.insert': insert(STREAM_ROWS),
  ...MERGE_OPERATIONS,
  'dedupe.claim': upsert(DEDUPES),
  'delivery.insert': insert(DELIVERIES, ONCE),
  'delivery.update': `UPDATE deliveries SET ${assignMoving(DELIVERIES)} WHERE id = ?`,
  'attempt.insert': insert(ATTEMPTS),
  'post.count': COUNT_POST,
  'app.insert': insert(APPS, 'ON CONFLICT (namespace, name) DO NOTHING'),
  'runner.put': upsert(RUNNERS, { kept: ['deleted_workflows'] }),
  'runner.workflowsDeleted':
    'UPDATE runners SET deleted_workflows = ? WHERE namespace = ? AND app = ? AND runner_key = ?',
  'runner.delete': 'DELETE FROM runners WHERE namespace = ? AND app = ? AND runner_key = ?',
  'workflow.put': upsert(WORKFLOWS, { kept: ['paused_at', 'limits'] }),
  'workflow.pause': 'UPDATE workflows SET paused_at = ?i WHERE namespace = ? AND app = ? AND name = ?',
  'workflow.resume': 'UPDATE workflows SET paused_at = NULL WHERE namespace = ? AND app = ? AND name = ?',
  'workflow.limit': 'UPDATE workflows SET limits = ? WHERE namespace = ? AND app = ? AND name = ?',
  // A registration that lacks the workflow keeps its pause and limits, and the next one that has it takes them back.
  'pause.keep': `INSERT INTO kept_pauses (namespace, app, name, paused_at, limits)
    SELECT namespace, app, name, paused_at, limits FROM workflows
    WHERE namespace = ? AND app = ? AND name = ? AND (paused_at IS NOT NULL OR limits IS NOT NULL)
    ON CONFLICT (namespace, app, name) DO NOTHING`,
  'pause.takeBack': `UPDATE workflows SET paused_at = coalesce(workflows.paused_at, k.paused_at), limits = coalesce(workflows.limits, k.limits)
    FROM kept_pauses AS k WHERE k.namespace = workflows.namespace AND k.app = workflows.app AND k.name = workflows.name
    AND workflows.namespace = ? AND workflows.app = ? AND workflows.name = ?`,
  'pause.delete': 'DELETE FROM kept_pauses WHERE namespace = ? AND app = ? AND name = ?',
  'pause.deleteOf': 'DELETE FROM kept_pauses WHERE namespace = ? AND app = ?',
  'workflow.delete': 'DELETE FROM workflows WHERE namespace = ? AND app = ? AND name = ?',
  'definition.keep': insert(WORKFLOW_DEFINITIONS, 'ON CONFLICT (namespace, app, workflow, registered_at) DO NOTHING'),
  // The later of two registrations in the same millisecond counts, as in the row of the workflow.
  'definition.put': upsert(WORKFLOW_DEFINITIONS),
  'definition.dropOld': `DELETE FROM workflow_definitions WHERE namespace = ? AND app = ? AND workflow = ?
    AND registered_at < (SELECT registered_at FROM workflow_definitions
      WHERE namespace = ? AND app = ? AND workflow = ? ORDER BY registered_at DESC LIMIT 1 OFFSET ${DEFINITIONS_MAX - 1})`,
  'definition.deleteOf': 'DELETE FROM workflow_definitions WHERE namespace = ? AND app = ? AND workflow = ?',
  'app.delete': 'DELETE FROM apps WHERE namespace = ? AND name = ?',
  'endpoint.put': upsert(ENDPOINTS),
  'endpoint.delete': 'DELETE FROM webhook_endpoints WHERE id = ? AND namespace = ?',
  'receiver.put': upsert(RECEIVERS),
  'receiver.delete': 'DELETE FROM webhook_receivers WHERE id = ? AND namespace = ?',
  // Several engines write it: the newest time stays.
  'receiver.accepted': `UPDATE webhook_receivers SET last_accepted_at = ?i
    WHERE id = ? AND coalesce(last_accepted_at, 0) < ?i`,
  'sealing.set': 'UPDATE sealing SET sealed = ?i',
  'flow.put': upsert(FLOW_ROWS),
  'flow.delete': 'DELETE FROM flow_rows WHERE id = ?',
  'scheduledTerm.insert': insert(SCHEDULED_TERMS, 'ON CONFLICT DO NOTHING'),
  'scheduledTerms.delete': 'DELETE FROM scheduled_terms WHERE row_id = ?',
  // A workflow can have many claimed idempotency keys: they are removed afterwards, some at a time (claims/drop-claims.ts).
  'flow.deleteOf': `DELETE FROM flow_rows WHERE namespace = ? AND app = ? AND workflow = ?
    AND policy IN ('debounce', 'batch', 'cron')`,
  'bulkResult.insert': insert(BULK_RESULTS, 'ON CONFLICT (bulk_id, run_id) DO NOTHING'),
  'control.put': upsert(CONTROL_ACTIONS, { key: ['id'] }),
  'document.put': upsert(DOCUMENTS),
  'document.delete': 'DELETE FROM documents WHERE namespace = ? AND kind = ? AND id = ?',
  'key.insert': insert(API_KEYS),
  'key.revoke': 'UPDATE api_keys SET revoked_at = ?i WHERE id = ? AND revoked_at IS NULL',
  // The code becomes the token of the session, so that no other request can redeem it.
  'code.redeem': `UPDATE api_keys SET hash = ?, expires_at = ?i, is_code = NULL
    WHERE hash = ? AND is_code = 1 AND revoked_at IS NULL AND expires_at > ?i`,
  'key.used': 'UPDATE api_keys SET last_used_at = ?i WHERE id = ?',
  // A key that a person made stays listed after it has expired.
  'keys.drop': 'DELETE FROM api_keys WHERE expires_at <= ?i AND parent_hash IS NOT NULL',
  'namespace.insert': insert(NAMESPACES, 'ON CONFLICT (name) DO NOTHING'),
  'namespace.suspend': 'UPDATE namespaces SET suspended_at = ?i WHERE name = ? AND suspended_at IS NULL',
  'namespace.resume': 'UPDATE namespaces SET suspended_at = NULL WHERE name = ?',
  'admin.changed': `UPDATE ${ADMIN_REVISION.name} SET revision = revision + 1`,
  'catalog.changed': `UPDATE ${CATALOG_REVISION.name} SET revision = revision + 1`,
} as const

export type OperationName = keyof typeof OPERATIONS | 'step.wake'

/** Operations on a row that must exist: if no row changes, the decision rested on something untrue. */
export const MUST_CHANGE: ReadonlySet<OperationName> = new Set([
  'run.update',
  'run.end',
  'step.update',
  'step.answerLate',
  'delivery.update',
  'stream.update',
])

/**
 * The operation `step.wake`, in three statements. The first wakes the step, if it still waits, with the first seq of the next
 * fence's range. If it did, the second writes the `queued` frame of a run that was parked, and the third updates the run. Each
 * reads the fence that the run has before the last statement raises it. A run that was claimed a moment ago still has the status
 * `waiting`: its lease must not end.
 */
export const WAKE = {
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
      waiting_kind = CASE status WHEN 'waiting' THEN NULL ELSE waiting_kind END,
      status = CASE status WHEN 'waiting' THEN 'queued' ELSE status END WHERE id = ?`,
  /** Where time and run id are among the parameters of the operation. */
  timeIndex: 4,
} as const

type AnyTable = Pick<Table<never>, 'name' | 'columns' | 'moving' | 'key' | 'typeOf'>

function insert(table: AnyTable, conflict = ''): string {
  return `INSERT INTO ${table.name} (${table.columns.join(', ')}) VALUES (${placeholders(table)}) ${conflict}`
}

/** Inserts, or replaces the row with the same key, which keeps the columns named. */
function upsert(
  table: AnyTable,
  { key = table.key ?? [], kept = [] }: { key?: readonly string[]; kept?: readonly string[] } = {},
): string {
  const { columns } = table
  const sets = columns
    .filter(column => !key.includes(column) && !kept.includes(column))
    .map(column => `${column} = excluded.${column}`)
  return insert(table, `ON CONFLICT (${key.join(', ')}) DO UPDATE SET ${sets.join(', ')}`)
}

function assignMoving(table: AnyTable): string {
  return table.moving.map(column => `${column} = ${PLACEHOLDERS[table.typeOf(column)]}`).join(', ')
}

function placeholders({ columns, typeOf }: AnyTable): string {
  return columns.map(column => PLACEHOLDERS[typeOf(column)]).join(', ')
}
