// The rules of runs, and of their steps, frames, logs and watches, as queries over a range of run ids.

import { SEQ_SPAN } from '../../../domain/model/seq.ts'
import { opsThatParkFor } from '../../../domain/pass/opcodes/registry.ts'
import { FINAL_STATUSES, LIVE_STATUSES } from '../tables/statuses.ts'
import type { Check } from './check.ts'

const IN_RANGE = (column: string) => `${column} > ? AND ${column} <= ?`
const OPEN = `('waiting', 'retrying', 'running')`

/** The kinds of opcode whose steps wait for one of these reasons, as an SQL list. */
const parkedFor = (...reasons: ('sleep' | 'event' | 'signal' | 'child')[]) =>
  `(${reasons
    .flatMap(opsThatParkFor)
    .map(op => `'${op}'`)
    .join(', ')})`
const SLEEPS = parkedFor('sleep')
const WAITS = parkedFor('event', 'signal')
const CHILDREN = parkedFor('child')

const RUN = `FROM runs r WHERE ${IN_RANGE('r.id')}`
const STEP = `FROM steps s LEFT JOIN runs r ON r.id = s.run_id WHERE ${IN_RANGE('s.run_id')}`
/** A step that something other than its time may end. */
const PARKED_STEP = `EXISTS (SELECT 1 FROM steps s WHERE s.run_id = r.id AND s.status = 'waiting' AND s.op NOT IN ${SLEEPS})`

/** Checks that the first run in a queue is due at some time, or is woken by a run that starts before it. */
function firstInQueue(column: 'waits_for_slot' | 'start_queue'): Check {
  return {
    name: 'run.queue',
    sql: `SELECT r.id, r.workflow ${RUN} AND r.${column} IS NOT NULL AND r.lease_owner IS NULL AND r.available_at IS NULL
      AND NOT EXISTS (SELECT 1 FROM runs o WHERE o.${column} = r.${column} AND o.lease_owner IS NULL
        AND (coalesce(o.priority, 0) > coalesce(r.priority, 0)
          OR (coalesce(o.priority, 0) = coalesce(r.priority, 0) AND o.id < r.id)))
      AND NOT EXISTS (SELECT 1 FROM runs o WHERE o.namespace = r.namespace AND o.app = r.app
        AND o.workflow = r.workflow AND o.started_at IS NULL AND o.available_at IS NOT NULL)`,
    message: ([, workflow]) => `of ${workflow} is first in its queue, and no run that starts before it will wake it`,
  }
}

/** Two live runs of one workflow share a key. */
function liveTwice(key: 'singleton_key' | 'start_key'): string {
  return `SELECT r.id, r.workflow, o.id FROM runs r JOIN runs o ON o.${key} = r.${key}
      AND o.namespace = r.namespace AND o.app = r.app AND o.workflow = r.workflow AND o.id < r.id
    WHERE ${IN_RANGE('r.id')} AND r.${key} IS NOT NULL AND r.finished_at IS NULL AND o.finished_at IS NULL
      AND r.cancel_requested IS NULL AND o.cancel_requested IS NULL`
}

/** Rules of terminal and live runs. */
const ROWS: Check[] = [
  {
    name: 'run.status',
    sql: `SELECT r.id, r.status ${RUN} AND r.status NOT IN ${LIVE_STATUSES} AND r.status NOT IN ${FINAL_STATUSES}`,
    message: ([, status]) => `has the unknown status ${status}`,
  },
  {
    name: 'run.wake',
    sql: `SELECT r.id, r.status ${RUN} AND r.available_at IS NULL AND r.waits_for_slot IS NULL AND r.start_queue IS NULL
      AND (r.status IN ('queued', 'running') OR (r.status = 'waiting' AND NOT ${PARKED_STEP}))`,
    message: ([, status]) => `is ${status}, and nothing will ever wake it`,
  },
  {
    name: 'run.counted',
    sql: `SELECT r.id ${RUN} AND r.late = 1 AND r.finished_at IS NULL`,
    message: () => 'is marked to be counted as ended, but has not ended',
  },
  firstInQueue('waits_for_slot'),
  firstInQueue('start_queue'),
  {
    name: 'run.timer',
    sql: `SELECT r.id, s.name, s.wake_at FROM runs r JOIN steps s ON s.run_id = r.id WHERE ${IN_RANGE('r.id')}
      AND r.status IN ('waiting', 'paused') AND r.lease_owner IS NULL AND s.status = 'waiting'
      AND s.step_limit IS NULL AND s.wake_at IS NOT NULL AND (r.available_at IS NULL OR r.available_at > s.wake_at)`,
    message: ([, name]) => `does not wake in time for its step ${name}`,
  },
  {
    name: 'run.ended',
    sql: `SELECT r.id, r.status ${RUN} AND r.status IN ${FINAL_STATUSES} AND (r.lease_owner IS NOT NULL
      OR r.available_at IS NOT NULL OR r.waits_for_slot IS NOT NULL OR r.start_queue IS NOT NULL OR r.leased_without_slots IS NOT NULL
      OR r.held_for_runner IS NOT NULL
      OR r.waiting_for IS NOT NULL OR r.waiting_kind IS NOT NULL OR r.cancel_requested IS NOT NULL)`,
    message: ([, status]) => `is ${status} and still has a lease, a slot or a time to wake`,
  },
  {
    name: 'run.filters',
    sql: `SELECT r.id, r.status ${RUN} AND ((r.waiting_for IS NULL) <> (r.waiting_kind IS NULL)
      OR (r.status = 'failed' AND r.error IS NOT NULL) <> (r.error_key IS NOT NULL))`,
    message: ([, status]) => `is ${status}, but lists cannot find it by its wait or its error`,
  },
  {
    name: 'run.times',
    sql: `SELECT r.id, r.status ${RUN} AND (
      (r.status IN ${FINAL_STATUSES} AND (r.finished_at IS NULL OR r.finished_seq IS NULL))
      OR (r.status IN ${LIVE_STATUSES} AND (r.finished_at IS NOT NULL OR r.finished_seq IS NOT NULL OR r.result IS NOT NULL))
      OR (r.started_at IS NULL) <> (r.started_seq IS NULL)
      OR (r.started_at IS NOT NULL AND r.finished_at IS NOT NULL AND r.duration_ms <>
        CASE WHEN r.finished_at > r.started_at THEN r.finished_at - r.started_at ELSE 0 END))`,
    message: ([, status]) => `is ${status}, but its start, end, duration or result contradicts this status`,
  },
  {
    name: 'run.singleton',
    sql: liveTwice('singleton_key'),
    message: ([, workflow, other]) =>
      `of ${workflow} is live at the same time as ${other}, which has the same singleton key`,
  },
  {
    name: 'run.key',
    sql: liveTwice('start_key'),
    message: ([, workflow, other]) =>
      `of ${workflow} is live at the same time as ${other}, which was started with the same key`,
  },
  {
    name: 'inbox.run',
    sql: `SELECT d.inbox, d.event_id FROM delivered_events d WHERE ${IN_RANGE('d.inbox')} AND d.inbox NOT IN
      (SELECT r.inbox FROM runs r WHERE r.singleton_key IS NOT NULL AND r.finished_at IS NULL AND r.inbox IS NOT NULL)`,
    message: ([, event]) => `has event ${event} in its inbox, but no live run will receive the event`,
  },
  {
    name: 'inbox.event',
    sql: `SELECT d.inbox, d.event_id FROM delivered_events d WHERE ${IN_RANGE('d.inbox')}
      AND NOT EXISTS (SELECT 1 FROM events e WHERE e.id = d.event_id)`,
    message: ([, event]) => `has event ${event} in its inbox, but the event does not exist`,
  },
  {
    name: 'run.given',
    sql: `SELECT r.id ${RUN} AND r.id LIKE '%.%'
      AND NOT EXISTS (SELECT 1 FROM given_run_ids g WHERE g.run_id = r.id AND g.namespace = r.namespace)`,
    message: () => 'has an id that a caller chose, but no request can find it by that id',
  },
  {
    name: 'given.run',
    sql: `SELECT g.run_id, g.given_id FROM given_run_ids g WHERE ${IN_RANGE('g.run_id')}
      AND NOT EXISTS (SELECT 1 FROM runs r WHERE r.id = g.run_id)
      AND NOT EXISTS (SELECT 1 FROM erased_runs e WHERE e.id = g.run_id)`,
    message: ([, givenId]) => `belongs to the id ${givenId} that a caller chose, but the run does not exist`,
  },
  {
    name: 'run.watches',
    sql: `SELECT r.id ${RUN} AND r.status IN ${LIVE_STATUSES} AND r.cancel_on IS NOT NULL
      AND NOT EXISTS (SELECT 1 FROM run_watches w WHERE w.run_id = r.id)`,
    message: () => 'has cancelOn, but no event would find it',
  },
  {
    name: 'watch.run',
    sql: `SELECT w.run_id, w.event_name FROM run_watches w LEFT JOIN runs r ON r.id = w.run_id
      WHERE ${IN_RANGE('w.run_id')} AND (r.id IS NULL OR r.status IN ${FINAL_STATUSES})`,
    message: ([, event]) => `is not live, and still watches for ${event}`,
  },
]

const STEPS: Check[] = [
  {
    name: 'step.run',
    sql: `SELECT s.run_id, s.idx, s.name, s.status, r.status ${STEP}
      AND (r.id IS NULL OR (s.status IN ${OPEN} AND r.status IN ${FINAL_STATUSES}))`,
    message: ([, index, name, status, run]) =>
      `has step ${index} (${name}), ${status}, while the run ${run === null ? 'does not exist' : `is ${run}`}`,
  },
  {
    name: 'step.status',
    sql: `SELECT s.run_id, s.idx, s.name, s.status ${STEP} AND (
      (s.status NOT IN ${OPEN} AND s.status NOT IN ${FINAL_STATUSES})
      OR (s.status IN ${FINAL_STATUSES} AND s.finished_at IS NULL)
      OR (s.status = 'waiting' AND s.finished_at IS NOT NULL)
      OR (s.status = 'retrying' AND s.next_attempt_at IS NULL)
      OR (s.status = 'waiting' AND s.op IN ${SLEEPS} AND s.wake_at IS NULL)
      OR (s.status = 'waiting' AND s.op IN ${WAITS} AND s.event_name IS NULL)
      OR (s.status = 'waiting' AND s.op IN ${CHILDREN} AND s.child_run_id IS NULL AND s.child_start IS NULL))`,
    message: ([, index, name, status]) =>
      `has step ${index} (${name}) with status ${status}, but without the fields that this status requires`,
  },
  {
    name: 'step.wait',
    sql: `SELECT s.run_id, s.idx, s.event_name ${STEP} AND s.status = 'waiting' AND s.op IN ${WAITS}
      AND (s.namespace IS NULL OR s.namespace <> r.namespace OR (s.match IS NULL) <> (s.match_key IS NULL))`,
    message: ([, index, event]) => `waits in step ${index} for event ${event}, but no such event would find the step`,
  },
  {
    name: 'step.child',
    sql: `SELECT s.run_id, s.idx, s.child_run_id, c.status FROM steps s JOIN runs r ON r.id = s.run_id
        LEFT JOIN runs c ON c.id = s.child_run_id
      WHERE ${IN_RANGE('s.run_id')} AND s.status = 'waiting' AND s.op IN ${CHILDREN} AND r.status IN ${LIVE_STATUSES}
        AND s.child_run_id IS NOT NULL AND (c.id IS NULL OR c.status IN ${FINAL_STATUSES} OR c.parent_run_id IS NULL
          OR c.parent_run_id <> s.run_id OR c.parent_step_index IS NULL OR c.parent_step_index <> s.idx)`,
    message: ([, index, child, status]) =>
      `waits in step ${index} for its child ${child}, which ${status === null ? 'does not exist' : `is ${status} and does not answer it`}`,
  },
  {
    name: 'step.index',
    sql: `SELECT s.run_id, count(*), max(s.idx) FROM steps s WHERE ${IN_RANGE('s.run_id')}
      GROUP BY s.run_id HAVING count(*) <> max(s.idx) + 1 OR min(s.idx) <> 0`,
    message: ([, count, last]) => `has ${count} steps, the last of which is number ${last}`,
  },
  {
    name: 'step.id',
    sql: `SELECT s.run_id, s.id, count(*) FROM steps s WHERE ${IN_RANGE('s.run_id')}
      GROUP BY s.run_id, s.id HAVING count(*) > 1`,
    message: ([, id, count]) => `has step id ${id} ${count} times`,
  },
]

/** Every seq of a row of the run. */
const SEQS = `SELECT run_id, seq FROM steps WHERE ${IN_RANGE('run_id')}
  UNION ALL SELECT run_id, seq FROM frames WHERE ${IN_RANGE('run_id')} AND step_index IS NULL
  UNION ALL SELECT run_id, seq FROM logs WHERE ${IN_RANGE('run_id')}
  UNION ALL SELECT id, started_seq FROM runs WHERE ${IN_RANGE('id')} AND started_seq IS NOT NULL
  UNION ALL SELECT id, finished_seq FROM runs WHERE ${IN_RANGE('id')} AND finished_seq IS NOT NULL`

const SEQUENCES: Check[] = [
  {
    name: 'seq.twice',
    sql: `SELECT run_id, seq FROM (${SEQS}) AS seqs GROUP BY run_id, seq HAVING count(*) > 1`,
    message: ([, seq]) => `has two rows with seq ${seq}`,
  },
  {
    name: 'seq.range',
    sql: `SELECT seqs.run_id, seqs.seq, r.finished_seq FROM (${SEQS}) AS seqs JOIN runs r ON r.id = seqs.run_id
      WHERE seqs.seq < 2 OR seqs.seq > (r.fence + 1) * ${SEQ_SPAN} OR seqs.seq > r.finished_seq`,
    message: ([, seq, end]) =>
      `has seq ${seq}, which is outside the range of its fence${end === null ? '' : `, or after its end at ${end}`}`,
  },
  {
    name: 'seq.run',
    sql: `SELECT seqs.run_id, seqs.seq FROM (${SEQS}) AS seqs LEFT JOIN runs r ON r.id = seqs.run_id WHERE r.id IS NULL`,
    message: ([, seq]) => `has a row with seq ${seq}, while the run does not exist`,
  },
]

export const RUN_CHECKS: readonly Check[] = [...ROWS, ...STEPS, ...SEQUENCES]

/** How many ranges the query of a check contains; each takes two parameters. */
export function rangesOf({ sql }: Check): number {
  return (sql.match(/> \? AND/g) ?? []).length
}
