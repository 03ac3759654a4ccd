// A run's timeline, put together from the rows that contain its frames. The run's row contains creation, first start and end; a
// settled step its final status; a log row its line; `frames` the rest. Called by sql-reads.ts.
//
// A handful of plain queries, merged here: one statement with a union takes four times as long, and a stream reads after every
// commit of its run.

import type { RunStatusFrame } from '../../../domain/model/change.ts'
import type { Run, RunProgress } from '../../../domain/model/run.ts'
import { firstSeq } from '../../../domain/model/seq.ts'
import { frameError } from '../../../domain/view/timeline-frames.ts'
import type { RunStatusNow, TimelinePage } from '../../../ports/store-reads.ts'
import type { Query, Row } from '../description/values.ts'
import { FRAMES, frameFromRow } from '../tables/frames.ts'
import { RUNS } from '../tables/runs.ts'
import { FINAL_STATUSES } from '../tables/statuses.ts'
import { SCOPED_RUN } from './runs/run-queries.ts'

export interface TimelineQuery {
  namespace: string
  runId: string
  after: number
  limit: number
  openFrom: number
}

const OF_STATUS = [
  'status',
  'attempt',
  'createdAt',
  'startedAt',
  'startedSeq',
  'finishedAt',
  'finishedSeq',
  'error',
] as const
const RUN = RUNS.part(...OF_STATUS, 'progress')
const NAMED_RUN = RUNS.part(...OF_STATUS, 'workflow', 'app')
const MOVE = FRAMES.part('seq', 'ts', 'status', 'attempt', 'error')
const THE_RUN = 'FROM runs WHERE id = ? AND namespace = ?'

/** The columns of these three are those of `TimelineRow` (tables/frames.ts). */
const SETTLED_STEPS = `SELECT 'step_status', seq, finished_at, status, attempt, name, idx, error, NULL, max_attempts
  FROM steps WHERE run_id = ${SCOPED_RUN} AND idx >= ? AND seq > ? AND status IN ${FINAL_STATUSES} AND spent_at IS NULL
  ORDER BY seq LIMIT ?`
const MOVES = `SELECT CASE WHEN step_index IS NULL THEN 'run_status' ELSE 'step_status' END, seq, ts, status, attempt,
    (SELECT name FROM steps WHERE steps.run_id = frames.run_id AND steps.idx = frames.step_index),
    step_index, error, NULL, max_attempts
  FROM frames WHERE run_id = ${SCOPED_RUN} AND seq > ? ORDER BY seq LIMIT ?`
const LINES = `SELECT 'log', seq, ts, level, attempt, scope, NULL, fields, message, ts_ms
  FROM logs WHERE run_id = ${SCOPED_RUN} AND seq > ? ORDER BY seq LIMIT ?`

/** The index of the first step without a final status up to a seq, or else of the next step. */
const OPEN_FROM = `SELECT coalesce(
  (SELECT idx FROM steps WHERE run_id = ${SCOPED_RUN} AND idx >= ? AND NOT (status IN ${FINAL_STATUSES} AND seq <= ?)
    ORDER BY idx LIMIT 1),
  (SELECT max(idx) + 1 FROM steps WHERE run_id = ${SCOPED_RUN}), 0)`

const LAST_MOVE = `SELECT ${MOVE.select} FROM frames
  WHERE run_id = ${SCOPED_RUN} AND step_index IS NULL ORDER BY seq DESC LIMIT 1`

/**
 * Queries to be answered at one moment: a later commit has a higher seq than every row seen here. Each returns one row more than
 * fits, which shows whether there are more.
 */
export function timelineQueries({ namespace, runId, after, limit, openFrom }: TimelineQuery): Query[] {
  const run = [runId, namespace]
  return [
    { sql: `SELECT ${RUN.select} ${THE_RUN}`, params: run },
    { sql: SETTLED_STEPS, params: [...run, openFrom, after, limit + 1] },
    { sql: MOVES, params: [...run, after, limit + 1] },
    { sql: LINES, params: [...run, after, limit + 1] },
    { sql: OPEN_FROM, params: [...run, openFrom, after, ...run] },
  ]
}

/** The page from the rows of its queries. */
export function timelinePage({ runId, limit, after, openFrom }: TimelineQuery, found: Row[][]): TimelinePage {
  const [[row], steps, moves, lines, [open]] = found as [Row[], Row[], Row[], Row[], Row[]]
  if (!row) return { status: undefined, frames: [], openFrom, more: false }
  const run = RUN.fromRow(row)
  const rows = [...ownFrames(run).map(rowOf), ...progressRow(run), ...steps, ...moves, ...lines]
    .filter(row => seqOf(row) > after)
    .sort((a, b) => seqOf(a) - seqOf(b))
  return {
    status: run.status,
    frames: rows.slice(0, limit).map(row => frameFromRow(runId, row)),
    openFrom: Math.max(openFrom, open?.[0] as number),
    more: rows.length > limit,
  }
}

/** Queries to be answered at one moment, for `statusFrame`. */
export function statusQueries(namespace: string, runId: string): Query[] {
  const params = [runId, namespace]
  return [
    { sql: `SELECT ${NAMED_RUN.select} ${THE_RUN}`, params },
    { sql: LAST_MOVE, params },
  ]
}

const PROGRESS = `SELECT progress, workflow, app ${THE_RUN} AND progress IS NOT NULL`

export function progressQueries(namespace: string, runId: string): Query[] {
  return [{ sql: PROGRESS, params: [runId, namespace] }]
}

/** The newest progress of the run, with the fields that streams of many runs show. */
export function progressOf(runId: string, [rows = []]: Row[][]): (RunProgress & RunNames) | undefined {
  const [row] = rows
  if (!row) return undefined
  const [progress, workflow, app] = row as [string, string, string]
  return { runId, workflow, app, ...(JSON.parse(progress) as RunProgress) }
}

type RunNames = { runId: string; workflow: string; app: string }

/** The frame of the run's present status: the last frame among its row and its moves. */
export function statusFrame(found: Row[][]): RunStatusNow | undefined {
  const [[row], [move]] = found as [Row[], Row[]]
  if (!row) return undefined
  const { workflow, app, ...run } = NAMED_RUN.fromRow(row)
  const frames = ownFrames(run)
  if (move) frames.push(MOVE.fromRow(move) as RunStatusFrame)
  return { workflow, app, ...frames.reduce((last, frame) => (frame.seq > last.seq ? frame : last)) }
}

/** The frames that the run's own row contains. */
function ownFrames(run: Pick<Run, (typeof OF_STATUS)[number]>): RunStatusFrame[] {
  const { status, attempt, createdAt, startedAt, startedSeq, finishedAt, finishedSeq, error } = run
  const frames: RunStatusFrame[] = [{ seq: firstSeq(0), ts: createdAt, status: 'queued', attempt: 1 }]
  if (startedSeq !== undefined && startedAt !== undefined)
    frames.push({ seq: startedSeq, ts: startedAt, status: 'running', attempt: 1 })
  if (finishedSeq !== undefined && finishedAt !== undefined)
    frames.push({ seq: finishedSeq, ts: finishedAt, status, attempt, ...(error && { error: frameError(error) }) })
  return frames
}

/** The frame of the run's newest progress, as a row of the other sources. */
function progressRow({ progress }: Pick<Run, 'progress'>): Row[] {
  if (!progress) return []
  const { seq, at, value } = progress
  return [['progress', seq, at, '', 0, null, null, value, null]]
}

/** Turns a frame into a row like those of the other sources. */
function rowOf({ seq, ts, status, attempt, error }: RunStatusFrame): Row {
  return ['run_status', seq, ts, status, attempt, null, null, error === undefined ? null : JSON.stringify(error), null]
}

function seqOf(row: Row): number {
  return row[1] as number
}
