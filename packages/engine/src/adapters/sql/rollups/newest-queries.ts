// The newest ends of runs: the last failure of each workflow, and how long their steps took. Called by the reads.

import type { FailuresQuery, LastFailure, RunScope, StepDurations } from '../../../ports/store-statistics.ts'
import { conditions } from '../description/conditions.ts'
import type { Query, Row } from '../description/values.ts'
import { FOLLOW_ON, OF_HANDLER } from '../tables/runs.ts'
import { classOf } from './ends.ts'
import { inScope } from './scope.ts'

/** The newest failures that are looked at, and the workflows whose last failure is read. */
const FAILURES_MAX = 20_000
const FAILED_WORKFLOWS_MAX = 1_000
/** Ended runs whose steps are read, runs that are looked at to find them, and steps. */
const ENDED_MAX = 200
const LOOKED_AT_MAX = 2_000
const STEPS_MAX = 20_000

/** Rows with app, workflow, and the end and id of the handler's last failed run as one text. */
export function lastFailuresQuery(namespace: string, { since, until, ...scope }: FailuresQuery): Query {
  const { terms, params } = inScope(namespace, scope)
  return {
    sql: `SELECT app, workflow, max(finished_at || ' ' || id) AS last FROM (
        SELECT app, workflow, finished_at, id FROM runs WHERE ${terms} AND error_key IS NOT NULL AND finished_at >= ?
          ${until === undefined ? '' : 'AND finished_at < ?'}
          AND id NOT IN (SELECT id FROM runs WHERE namespace = ? AND ${FOLLOW_ON} AND error_key IS NOT NULL AND finished_at >= ?)
        ORDER BY finished_at DESC LIMIT ${FAILURES_MAX}) AS newest
      GROUP BY app, workflow ORDER BY last DESC LIMIT ${FAILED_WORKFLOWS_MAX}`,
    params: [...params, since, ...(until === undefined ? [] : [until]), namespace, since],
  }
}

/** Rows of id, app, workflow, end and error of the runs in rows of `lastFailuresQuery`. */
export function failedRunsQuery(last: readonly Row[]): Query {
  const ids = last.map(([, , text]) => (text as string).split(' ')[1] as string)
  return {
    sql: `SELECT id, app, workflow, finished_at, error FROM runs WHERE id IN (${ids.map(() => '?').join(', ')})`,
    params: ids,
  }
}

export function lastFailure(row: Row): LastFailure {
  const [runId, app, workflow, at, error] = row as [string, string, string, number, string]
  return { runId, app, workflow, at, error: JSON.parse(error) }
}

/** Rows for `stepDurations`, of the callbacks in the newest ended runs of handlers of the scope. */
export function stepDurationsQuery(namespace: string, { app, workflow }: RunScope): Query {
  const { terms, params } = conditions({
    [`namespace = ? AND ${OF_HANDLER}`]: namespace,
    // The index by workflow, or else the one by app, has the newest runs of the scope.
    [workflow === undefined ? 'app = ?' : "app || '' = ?"]: app,
    'workflow = ?': workflow,
  })
  return {
    sql: `SELECT app, workflow, name, ${classOf('ms')}, count(*), CAST(sum(ms) AS bigint) FROM (
        SELECT ended.app, ended.workflow, steps.name,
          CASE WHEN steps.finished_at < steps.started_at THEN 0 ELSE steps.finished_at - steps.started_at END AS ms
        FROM (SELECT id, app, workflow FROM (
            SELECT id, app, workflow, finished_at FROM runs WHERE ${terms}
            ORDER BY id DESC LIMIT ${LOOKED_AT_MAX}) AS newest
          WHERE finished_at IS NOT NULL ORDER BY id DESC LIMIT ${ENDED_MAX}) AS ended
        JOIN steps ON steps.run_id = ended.id
        WHERE steps.op = 'StepRun' AND steps.finished_at IS NOT NULL LIMIT ${STEPS_MAX}) AS ran
      GROUP BY 1, 2, 3, 4`,
    params,
  }
}

export function stepDurations(rows: readonly Row[]): StepDurations[] {
  const steps = new Map<string, StepDurations>()
  for (const row of rows as [string, string, string, number, number, number][]) {
    const [app, workflow, name, of, count, sumMs] = row
    const key = JSON.stringify([app, workflow, name])
    const step = steps.get(key) ?? { app, workflow, name, count: 0, durations: { sumMs: 0, counts: new Map() } }
    steps.set(key, step)
    step.count += count
    step.durations.sumMs += sumMs
    step.durations.counts.set(of, count)
  }
  return [...steps.values()]
}
