// Queries about the runs and events that others caused. Called by sql-reads.ts. All of them are seeks: by a parent, a source, an
// event, or the steps of a run.

import { type Cleanups, ROLLBACK_PREFIX } from '../../../domain/run/cleanup/begun.ts'
import type { EmittedEvent, RelatedRun, RunOfTree } from '../../../domain/view/tree.ts'
import type { Query, Row, Value } from '../description/values.ts'
import { RUNS } from '../tables/runs.ts'
import { SAME_NAMESPACE } from './runs/run-filter.ts'

const RUN = RUNS.part('id', 'workflow', 'app', 'status', 'createdAt', 'startedAt', 'finishedAt', 'startKey')
const STARTED_BY =
  '(SELECT name FROM steps WHERE steps.run_id = runs.parent_run_id AND steps.idx = runs.parent_step_index)'

/** How runs that others caused are found: by this column. */
const WAYS = {
  parent_run_id: { via: `coalesce(kind, 'child')`, stepName: STARTED_BY },
  replay_of: { via: `'fork'`, stepName: 'NULL' },
  event_id: { via: `'trigger'`, stepName: 'NULL' },
} as const

/** Up to this many parents are looked up one by one. */
const FEW_IDS = 5

export interface TreeLevel {
  runIds: readonly string[]
  eventIds: readonly string[]
}

/** One row for `runOfTree`, or none. */
export function runOfTreeQuery(namespace: string, runId: string): Query {
  return { sql: `SELECT ${RUN.select} FROM runs WHERE id = ? AND namespace = ?`, params: [runId, namespace] }
}

/** Rows for `relatedRun`, the oldest first, for each way in which the level's runs and events cause others. */
export function relatedRunQueries(namespace: string, level: TreeLevel, limit: number): Query[] {
  const { runIds, eventIds } = level
  const ofRuns = [
    related('parent_run_id', runIds),
    related('replay_of', runIds),
    startedRunsQuery(namespace, level, limit),
  ]
  return [...(runIds.length > 0 ? ofRuns : []), ...(eventIds.length > 0 ? [related('event_id', eventIds)] : [])]

  function related(column: keyof typeof WAYS, ids: readonly string[]): Query {
    const { via, stepName } = WAYS[column]
    const { where, params } = ids.length > FEW_IDS ? ofMany(column, ids) : firstOfEach(column, ids, limit)
    const sql = `SELECT ${RUN.select}, ${column}, ${via}, ${stepName} FROM runs
      WHERE ${where} AND ${SAME_NAMESPACE} ORDER BY id LIMIT ?`
    return { sql, params: [...params, namespace, limit] }
  }
}

/**
 * Rows for `relatedRun` of the runs that steps of the level's runs started. Leaves out runs that already existed and that a step
 * got because of their key.
 */
function startedRunsQuery(namespace: string, { runIds }: TreeLevel, limit: number): Query {
  const sql = `SELECT ${RUN.select}, s.run_id, 'started', s.name
    FROM steps AS s JOIN runs ON runs.id = s.started_run_id
    WHERE s.run_id IN (${holes(runIds)}) AND s.started_run_id IS NOT NULL AND runs.namespace = ?
      AND runs.started_by LIKE '{"runId":"' || s.run_id || '",%' ORDER BY s.run_id, s.idx LIMIT ?`
  return { sql, params: [...runIds, namespace, limit] }
}

/** Rows for `cleanups`: a live run that cleans up after the run, then each rollback that has begun. */
export function cleanupsQuery(namespace: string, runId: string): Query {
  return {
    sql: `SELECT * FROM (SELECT 'run', id FROM runs
        WHERE cleanup_of IS NOT NULL AND cleanup_of = ? AND finished_at IS NULL AND ${SAME_NAMESPACE} LIMIT 1) AS live
      UNION SELECT 'step', name FROM steps
        WHERE run_id IN (SELECT id FROM runs WHERE cleanup_of IS NOT NULL AND cleanup_of = ? AND ${SAME_NAMESPACE})
          AND name LIKE '${ROLLBACK_PREFIX}%'`,
    params: [runId, namespace, runId, namespace],
  }
}

export function cleanups(rows: readonly Row[]): Cleanups {
  const named = (what: string) => rows.flatMap(([kind, name]) => (kind === what ? [name as string] : []))
  const [liveRunId] = named('run')
  return { ...(liveRunId === undefined ? {} : { liveRunId }), begun: new Set(named('step')) }
}

interface Condition {
  where: string
  params: Value[]
}

/** Reads no more than the limit for each, in the order of the index: one run can have very many children. */
function firstOfEach(column: keyof typeof WAYS, ids: readonly string[], limit: number): Condition {
  const first = `SELECT id FROM (SELECT id FROM runs WHERE ${column} IS NOT NULL AND ${column} = ? ORDER BY id LIMIT ?) AS first`
  return { where: `id IN (${ids.map(() => first).join(' UNION ALL ')})`, params: ids.flatMap(id => [id, limit]) }
}

function ofMany(column: keyof typeof WAYS, ids: readonly string[]): Condition {
  return { where: `${column} IS NOT NULL AND ${column} IN (${holes(ids)})`, params: [...ids] }
}

/** Rows for `emittedEvent` of runs of the namespace. */
export function emittedEventsQuery({ runIds }: TreeLevel, limit: number): Query {
  const params: Value[] = [...runIds, limit]
  const sql = `SELECT emitted_event_id, event_name, started_at, run_id, name FROM steps
    WHERE run_id IN (${holes(runIds)}) AND emitted_event_id IS NOT NULL ORDER BY run_id, idx LIMIT ?`
  return { sql, params }
}

export const runOfTree: (row: Row) => RunOfTree = RUN.fromRow

export function relatedRun(row: Row): RelatedRun {
  const [of, via, stepName] = row.slice(-3) as [string, RelatedRun['via'], string | null]
  return { ...runOfTree(row), of, via, ...(stepName === null ? {} : { stepName }) }
}

export function emittedEvent(row: Row): EmittedEvent {
  const [id, name, at, of, stepName] = row as [string, string, number, string, string]
  return { id, name, at, of, stepName }
}

function holes(ids: readonly string[]): string {
  return ids.map(() => '?').join(', ')
}
