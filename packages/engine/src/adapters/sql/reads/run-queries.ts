// Queries about one run and its log lines, and what their rows mean. Called by the store and its reads;
// the list of runs has a file of its own.

import type { LoadedRun } from '../../../domain/run/state.ts'
import { HELD_COUNTED_MAX, type HeldRun, type RunView } from '../../../ports/store-reads.ts'
import type { Query, Row } from '../description/values.ts'
import { LOGS } from '../tables/logs.ts'
import { RUNS } from '../tables/runs.ts'
import { FINAL_STATUSES } from '../tables/statuses.ts'
import { STEPS } from '../tables/steps.ts'
import { FIRST_IN_START_QUEUE } from '../write/statements.ts'

/** The id of the run, if the namespace has it. */
export const SCOPED_RUN = '(SELECT id FROM runs WHERE id = ? AND namespace = ?)'

export const STEPS_OF_RUN = `SELECT ${STEPS.select} FROM steps WHERE run_id = ? ORDER BY idx`

/** The handler's own log lines are numbered; a small index contains only them. */
export const ROOT_LOGGED = `SELECT coalesce(max(idx) + 1, 0) FROM logs WHERE run_id = ? AND scope = '@root'`

/**
 * The step a run is at: the newest unsettled one, else the newest. Looks at the last hundred steps at most, so that
 * a page of runs stays cheap even if the runs are long.
 */
export const CURRENT_STEP = `(
  SELECT name FROM (
    SELECT name, status, idx FROM steps WHERE steps.run_id = runs.id ORDER BY idx DESC LIMIT 100) AS newest
  ORDER BY CASE WHEN status IN ${FINAL_STATUSES} THEN 1 ELSE 0 END, idx DESC LIMIT 1)`

/** Everything an owner or a controller needs of a run, of any namespace; for `loadedRun`. */
export function loadQueries(runId: string): Query[] {
  return [
    { sql: `SELECT ${RUNS.select} FROM runs WHERE id = ?`, params: [runId] },
    { sql: STEPS_OF_RUN, params: [runId] },
    { sql: ROOT_LOGGED, params: [runId] },
  ]
}

export function loadedRun(run: Row, steps: Row[], rootLogged: number): LoadedRun {
  return { run: RUNS.fromRow(run), steps: steps.map(STEPS.fromRow), rootLogged }
}

/** One row with the count of runs before this one in its queue, in the order that `slot.free` and `startQueue.wake` take. */
export function heldBeforeQuery({ id, waitsForSlot, startQueue, priority = 0 }: HeldRun): Query {
  const queue = waitsForSlot === undefined ? 'start_queue' : 'waits_for_slot'
  return {
    sql: `SELECT count(*) FROM (
      SELECT 1 FROM runs WHERE ${queue} = ? AND lease_owner IS NULL
        AND (coalesce(priority, 0) > ? OR (coalesce(priority, 0) = ? AND id < ?)) LIMIT ?) AS ahead`,
    params: [waitsForSlot ?? startQueue ?? null, priority, priority, id, HELD_COUNTED_MAX],
  }
}

/** One row with id and priority of the first run in the start queue of a throttle, or none. */
export function firstInStartQueueQuery(throttleId: string): Query {
  return { sql: `SELECT id, priority ${FIRST_IN_START_QUEUE} 1`, params: [throttleId] }
}

/** One row for `runView`, or none. */
export function runQuery(namespace: string, id: string): Query {
  return {
    sql: `SELECT ${RUNS.select}, ${CURRENT_STEP} FROM runs WHERE id = ? AND namespace = ?`,
    params: [id, namespace],
  }
}

/** Reads a row of a run with its `CURRENT_STEP` after its columns. */
export function runView(row: Row): RunView {
  const run = RUNS.fromRow(row)
  const current = row[RUNS.columns.length] as string | null
  if (run.status === 'succeeded' || run.status === 'cancelled') return run
  const name = run.error?.stepName ?? current
  return name === null ? run : { ...run, currentStepName: name }
}

/** Rows of `LOGS`, oldest first. */
export function logsQuery(namespace: string, runId: string, query: { from: number; limit: number }): Query {
  const sql = `SELECT ${LOGS.select} FROM logs WHERE run_id = ${SCOPED_RUN} AND seq > ?
    ORDER BY seq LIMIT ?`
  return { sql, params: [runId, namespace, query.from, query.limit] }
}
