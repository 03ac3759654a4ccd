// Queries about the passes of one run: the steps that each reported, and the frames of those that failed. Called by
// sql-reads.ts. A run has at most some thousand steps, which are read without their results.

import type { PassReport, PassStep, RunOfPasses } from '../../../domain/view/passes.ts'
import type { PassReports } from '../../../ports/store-reads.ts'
import type { Query, Row } from '../description/values.ts'
import { SCOPED_RUN } from './run-queries.ts'

/** Rows of steps, and of frames, in one page of passes. */
const ROWS_MAX = 10_000

const OF_RUN = `WHERE run_id = ${SCOPED_RUN}`
/** Frames of passes that failed, or in which a step did. */
const FAILED = `(step_index IS NULL OR status = 'retrying')`

interface PassPage {
  namespace: string
  runId: string
  after: number
  limit: number
}

/** The numbers of the passes that come next, one more than the limit; then the run. */
export function passNumberQueries({ namespace, runId, after, limit }: PassPage): Query[] {
  const params = [runId, namespace, after]
  const sql = `SELECT pass FROM (SELECT pass FROM steps ${OF_RUN} AND pass > ?
    UNION SELECT pass FROM frames ${OF_RUN} AND pass > ?) AS passes ORDER BY pass LIMIT ?`
  return [
    { sql, params: [...params, ...params, limit + 1] },
    {
      sql: 'SELECT status, finished_at, last_pass, error FROM runs WHERE id = ? AND namespace = ?',
      params: [runId, namespace],
    },
  ]
}

export function runOfPasses(row: Row): RunOfPasses {
  const [status, finishedAt, lastPass, error] = row as [
    RunOfPasses['status'],
    number | null,
    string | null,
    string | null,
  ]
  return {
    status,
    ...(finishedAt === null ? {} : { finishedAt }),
    ...(lastPass === null ? {} : { lastPass: JSON.parse(lastPass) }),
    ...(error === null ? {} : { error: JSON.parse(error) }),
  }
}

/** The reports of the passes in (after, upTo], and how many passes up to `after` had a failure; for `passReports`. */
export function passReportQueries({
  namespace,
  runId,
  after,
  upTo,
}: Omit<PassPage, 'limit'> & { upTo: number }): Query[] {
  const run = [runId, namespace]
  const params = [...run, after, upTo, ROWS_MAX + 1]
  return [
    {
      sql: `SELECT pass, runner, pass_sent_at, CASE WHEN op = 'StepRun' THEN coalesce(finished_at, started_at) ELSE started_at END,
          idx, id, name, attempt, status, NULL
        FROM steps ${OF_RUN} AND pass > ? AND pass <= ? ORDER BY pass, idx LIMIT ?`,
      params,
    },
    {
      sql: `SELECT pass, runner, pass_sent_at, ts, step_index,
          (SELECT id FROM steps WHERE steps.run_id = frames.run_id AND steps.idx = frames.step_index),
          (SELECT name FROM steps WHERE steps.run_id = frames.run_id AND steps.idx = frames.step_index),
          attempt, status, CASE WHEN step_index IS NULL THEN error END
        FROM frames ${OF_RUN} AND pass > ? AND pass <= ? ORDER BY pass, seq LIMIT ?`,
      params,
    },
    { sql: `SELECT count(DISTINCT pass) FROM frames ${OF_RUN} AND pass <= ? AND ${FAILED}`, params: [...run, after] },
  ]
}

/** Frames come first: a step that failed and is to be retried is in both, and its frame knows when it failed. */
export function passReports(found: Row[][], upTo: number): Omit<PassReports, 'run' | 'more'> {
  const [steps, frames, [count]] = found as [Row[], Row[], Row[]]
  const [ofFrames, ofSteps] = [whole(frames, upTo), whole(steps, upTo)]
  const last = Math.min(ofFrames.upTo, ofSteps.upTo)
  const rows = [...ofFrames.rows, ...ofSteps.rows].filter(([pass]) => (pass as number) <= last)
  return { reports: rows.map(report), upTo: last, failedBefore: count?.[0] as number }
}

/** Without the last pass, which may be cut, unless it is the only one. */
function whole(rows: Row[], upTo: number): { rows: Row[]; upTo: number } {
  if (rows.length <= ROWS_MAX) return { rows, upTo }
  const [first, last] = [rows[0]?.[0] as number, rows.at(-1)?.[0] as number]
  return { rows: rows.slice(0, ROWS_MAX), upTo: last === first ? last : last - 1 }
}

function report(row: Row): PassReport {
  const [pass, runner, passSentAt, at, index, id, name, attempt, status, error] = row as [
    number,
    string,
    number,
    number,
    number | null,
    string,
    string,
    number,
    PassStep['status'],
    string | null,
  ]
  return {
    pass,
    runner,
    passSentAt,
    at,
    ...(index === null ? {} : { step: { index, id, name, attempt, status } }),
    ...(error === null ? {} : { error: JSON.parse(error) }),
  }
}
