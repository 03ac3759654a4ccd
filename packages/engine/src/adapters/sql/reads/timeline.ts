// A run's timeline, put together from the rows that contain its frames. The run's row contains creation, first start and end; a
// settled step its final status; a log row its line; `frames` the rest. Called by sql-reads.ts.
//
// A handful of plain queries, merged here: one statement with a union takes four times as long, and a stream reads after every
// commit of its run.

import type { RunStatusFrame } from '../../../domain/model/change.ts'
import type { RunProgress, RunStatus } from '../../../domain/model/run.ts'
import { firstSeq } from '../../../domain/model/seq.ts'
import { frameError } from '../../../domain/view/timeline-frames.ts'
import type { RunStatusNow, TimelinePage } from '../../../ports/store-reads.ts'
import type { Query, Row } from '../description/values.ts'
import { frameFromRow } from '../tables/frames.ts'
import { FINAL_STATUSES } from '../tables/statuses.ts'
import { SCOPED_RUN } from './runs/run-queries.ts'

export interface TimelineQuery {
  namespace: string
  runId: string
  after: number
  limit: number
  openFrom: number
}

const RUN_COLUMNS = 'status, attempt, created_at, started_at, started_seq, finished_at, finished_seq, error, progress'
const RUN = `SELECT ${RUN_COLUMNS} FROM runs WHERE id = ? AND namespace = ?`
const NAMED_RUN = `SELECT ${RUN_COLUMNS}, workflow, app FROM runs WHERE id = ? AND namespace = ?`
type RunRow = [
  status: RunStatus,
  attempt: number,
  createdAt: number,
  startedAt: number | null,
  startedSeq: number | null,
  finishedAt: number | null,
  finishedSeq: number | null,
  error: string | null,
  progress: string | null,
]
type NamedRunRow = [...RunRow, workflow: string, app: string]

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

const LAST_MOVE = `SELECT seq, ts, status, attempt, error FROM frames
  WHERE run_id = ${SCOPED_RUN} AND step_index IS NULL ORDER BY seq DESC LIMIT 1`

/**
 * Queries to be answered at one moment: a later commit has a higher seq than every row seen here. Each returns one row more than
 * fits, which shows whether there are more.
 */
export function timelineQueries({ namespace, runId, after, limit, openFrom }: TimelineQuery): Query[] {
  const run = [runId, namespace]
  return [
    { sql: RUN, params: run },
    { sql: SETTLED_STEPS, params: [...run, openFrom, after, limit + 1] },
    { sql: MOVES, params: [...run, after, limit + 1] },
    { sql: LINES, params: [...run, after, limit + 1] },
    { sql: OPEN_FROM, params: [...run, openFrom, after, ...run] },
  ]
}

/** The page from the rows of its queries. */
export function timelinePage({ runId, limit, after, openFrom }: TimelineQuery, found: Row[][]): TimelinePage {
  const [[run], steps, moves, lines, [open]] = found as [Row[], Row[], Row[], Row[], Row[]]
  if (!run) return { status: undefined, frames: [], openFrom, more: false }
  const rows = [...ownFrames(run as RunRow).map(rowOf), ...progressRow(run as RunRow), ...steps, ...moves, ...lines]
    .filter(row => seqOf(row) > after)
    .sort((a, b) => seqOf(a) - seqOf(b))
  return {
    status: (run as RunRow)[0],
    frames: rows.slice(0, limit).map(row => frameFromRow(runId, row)),
    openFrom: Math.max(openFrom, open?.[0] as number),
    more: rows.length > limit,
  }
}

/** Queries to be answered at one moment, for `statusFrame`. */
export function statusQueries(namespace: string, runId: string): Query[] {
  const params = [runId, namespace]
  return [
    { sql: NAMED_RUN, params },
    { sql: LAST_MOVE, params },
  ]
}

const PROGRESS = 'SELECT progress, workflow, app FROM runs WHERE id = ? AND namespace = ? AND progress IS NOT NULL'

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
  const [[run], [move]] = found as [Row[], Row[]]
  if (!run) return undefined
  const [workflow, app] = (run as NamedRunRow).slice(-2) as [string, string]
  const frames = ownFrames((run as NamedRunRow).slice(0, -2) as RunRow)
  if (move) {
    const [seq, ts, status, attempt, error] = move as [number, number, RunStatus, number, string | null]
    frames.push({ seq, ts, status, attempt, ...(error === null ? {} : { error: JSON.parse(error) }) })
  }
  return { workflow, app, ...frames.reduce((last, frame) => (frame.seq > last.seq ? frame : last)) }
}

/** The frames that the run's own row contains. */
function ownFrames([status, attempt, createdAt, startedAt, startedSeq, finishedAt, finishedSeq, errorText]: RunRow) {
  const frames: RunStatusFrame[] = [{ seq: firstSeq(0), ts: createdAt, status: 'queued', attempt: 1 }]
  if (startedSeq !== null && startedAt !== null)
    frames.push({ seq: startedSeq, ts: startedAt, status: 'running', attempt: 1 })
  if (finishedSeq !== null && finishedAt !== null) {
    const error = errorText === null ? {} : { error: frameError(JSON.parse(errorText)) }
    frames.push({ seq: finishedSeq, ts: finishedAt, status, attempt, ...error })
  }
  return frames
}

/** The frame of the run's newest progress, as a row of the other sources. */
function progressRow(run: RunRow): Row[] {
  const progress = run[8]
  if (progress === null) return []
  const { seq, at, value } = JSON.parse(progress) as RunProgress
  return [['progress', seq, at, '', 0, null, null, value, null]]
}

/** Turns a frame into a row like those of the other sources. */
function rowOf({ seq, ts, status, attempt, error }: RunStatusFrame): Row {
  return ['run_status', seq, ts, status, attempt, null, null, error === undefined ? null : JSON.stringify(error), null]
}

function seqOf(row: Row): number {
  return row[1] as number
}
