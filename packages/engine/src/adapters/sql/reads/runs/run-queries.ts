// Queries about one run and its log lines, and the meaning of their rows. Called by the store and its reads. The list of runs,
// limits, and the queues of held runs have their own files.

import type { LoadedRun } from '../../../../domain/run/state.ts'
import type { LogsQuery, RunView } from '../../../../ports/store-reads.ts'
import type { Query, Row } from '../../description/values.ts'
import { LOGS } from '../../tables/logs.ts'
import { HOLDS_SLOT, NEWEST_OF_CHAIN, RUNS, SLOT_COLUMNS } from '../../tables/runs.ts'
import { FINAL_STATUSES } from '../../tables/statuses.ts'
import { STEPS } from '../../tables/steps.ts'
import { SAME_NAMESPACE } from './run-filter.ts'

/** The id of the run, if the namespace has it. */
export const SCOPED_RUN = '(SELECT id FROM runs WHERE id = ? AND namespace = ?)'

export const STEPS_OF_RUN = `SELECT ${STEPS.select} FROM steps WHERE run_id = ? ORDER BY idx`

/** The handler's own log lines are numbered; a small index contains only them. */
export const ROOT_LOGGED = `SELECT coalesce(max(idx) + 1, 0) FROM logs WHERE run_id = ? AND scope = '@root'`

/**
 * The step that a run is at: the newest unsettled one, else the newest. Looks at no more than the last hundred steps, so that a
 * page of runs stays cheap even if the runs are long.
 */
export const CURRENT_STEP = `(
  SELECT name FROM (
    SELECT name, status, idx FROM steps WHERE steps.run_id = runs.id ORDER BY idx DESC LIMIT 100) AS newest
  ORDER BY CASE WHEN status IN ${FINAL_STATUSES} THEN 1 ELSE 0 END, idx DESC LIMIT 1)`

/** Everything that an owner or a controller needs of a run, in any namespace; for `loadedRun`. */
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

/** Rows with the ids of the runs that hold the slot, the oldest first. */
export function holdersQuery(namespace: string, slotId: string, limit: number): Query {
  const holders = SLOT_COLUMNS.map(
    slot => `SELECT id FROM runs WHERE ${slot} = ? AND ${HOLDS_SLOT[slot]} AND ${SAME_NAMESPACE}`,
  )
  return {
    sql: `SELECT id FROM (${holders.join(' UNION ')}) AS holders ORDER BY id LIMIT ?`,
    params: [...holders.flatMap(() => [slotId, namespace]), limit],
  }
}

/**
 * Finds which of the ids were given to runs by callers, and the ids under which these runs are stored, including an erased run.
 */
export function storedIdsQuery(namespace: string, ids: readonly string[]): Query {
  const holes = ids.map(() => '?').join(', ')
  return {
    sql: `SELECT given_id, run_id FROM given_run_ids WHERE namespace = ? AND given_id IN (${holes})`,
    params: [namespace, ...ids],
  }
}

/** Returns the stored id of each, from the rows of `storedIdsQuery`. */
export function storedIds(ids: readonly string[], rows: readonly Row[]): string[] {
  const stored = new Map(rows as [string, string][])
  return ids.map(id => stored.get(id) ?? id)
}

export function erasedQuery(namespace: string, id: string): Query {
  return { sql: 'SELECT 1 FROM erased_runs WHERE id = ? AND namespace = ?', params: [id, namespace] }
}

/** Like `runQuery`, for the newest run of a chain. */
export function newestOfChainQuery(namespace: string, firstRunId: string): Query {
  return {
    sql: `SELECT ${RUNS.select}, ${CURRENT_STEP} FROM runs WHERE chain_id = ? AND ${NEWEST_OF_CHAIN} AND namespace = ?`,
    params: [firstRunId, namespace],
  }
}

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

/** Rows of `LOGS`. */
export function logsQuery(namespace: string, runId: string, query: LogsQuery): Query {
  const sql = `SELECT ${LOGS.select} FROM logs WHERE run_id = ${SCOPED_RUN} AND seq > ?
    ORDER BY seq ${query.dir ?? 'asc'} LIMIT ?`
  return { sql, params: [runId, namespace, query.from, query.limit] }
}
