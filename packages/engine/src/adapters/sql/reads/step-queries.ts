// Queries about the steps of one run, their attempts, and the passes that reported them. Called by sql-reads.ts.

import type { PassReport, PassStep } from '../../../domain/view/passes.ts'
import type { AttemptFrame } from '../../../domain/view/step-attempts.ts'
import { ATTEMPTS_READ_MAX, type PassReports, type StepQuery } from '../../../ports/store-reads.ts'
import type { Query, Row, Value } from '../description/values.ts'
import { FRAMES } from '../tables/frames.ts'
import { RUNS } from '../tables/runs.ts'
import { FINAL_STATUSES } from '../tables/statuses.ts'
import { STEPS } from '../tables/steps.ts'
import { SCOPED_RUN } from './runs/run-queries.ts'
import { folded } from './runs/text-search.ts'

/** Greater than any index of a step. */
const INDEX_MAX = 2 ** 31 - 1

interface StepSlice {
  /** The first index. */
  from: number
  bytesMax: number
  limit: number
}

/**
 * Rows of `STEPS` that match, from an index on, in index order, until their payloads exceed this many bytes, and at least one;
 * then the last matching index. Neither database loads texts to find out their length.
 */
export function stepSliceQueries(namespace: string, runId: string, query: StepQuery, slice: StepSlice): Query[] {
  const { from, bytesMax, limit } = slice
  const { terms, params } = stepFilter(query)
  const matching = `FROM steps WHERE run_id = ${SCOPED_RUN}${terms}`
  const values: Value[] = [runId, namespace, ...params]
  const columns = query.withoutData ? STEPS.selectWithout('data') : STEPS.select
  const last = { sql: `SELECT max(idx) ${matching}`, params: values }
  const page = `AND idx >= ? ORDER BY idx LIMIT ?`
  if (query.withoutData)
    return [{ sql: `SELECT ${columns} ${matching} ${page}`, params: [...values, from, limit] }, last]
  const sizes = `SELECT idx, sum(coalesce(octet_length(data), 0) + coalesce(octet_length(error), 0))
    OVER (ORDER BY idx ROWS UNBOUNDED PRECEDING) AS bytes FROM (SELECT idx, data, error ${matching} ${page}) AS page`
  const sql = `SELECT ${columns} ${matching} AND idx < (
      SELECT coalesce(min(idx), ${INDEX_MAX}) FROM (${sizes}) AS sizes WHERE bytes > ? AND idx > ?) ${page}`
  return [{ sql, params: [...values, ...values, from, limit, bytesMax, from, from, limit] }, last]
}

function stepFilter({ status, q, hasStarted }: StepQuery): { terms: string; params: Value[] } {
  const terms: string[] = []
  const params: Value[] = []
  if (status) {
    terms.push(` AND status IN (${status.map(() => '?').join(', ')})`)
    params.push(...status)
  }
  if (hasStarted) terms.push(' AND started_run_id IS NOT NULL')
  if (q) {
    terms.push(' AND text_has(?, name)')
    params.push(folded(q))
  }
  return { terms: terms.join(''), params }
}

const ATTEMPT = FRAMES.part(
  ...(['stepIndex', 'ts', 'status', 'attempt', 'error'] as const),
  ...(['pass', 'runner', 'passSentAt', 'ranAt', 'ranMs'] as const),
)
const PASSING_RUN = RUNS.part('status', 'finishedAt', 'lastPass', 'error')

/** The step with the id, and the newest frames that ended its attempts, the newest first; for `attemptFrame`. */
export function stepQueries(namespace: string, runId: string, stepId: string): Query[] {
  const ofRun = `WHERE run_id = ${SCOPED_RUN}`
  const run = [runId, namespace]
  const sql = `SELECT ${ATTEMPT.select} FROM frames ${ofRun}
    AND step_index = (SELECT idx FROM steps ${ofRun} AND id = ?)
    AND (status = 'retrying' OR status IN ${FINAL_STATUSES}) ORDER BY seq DESC LIMIT ${ATTEMPTS_READ_MAX}`
  return [
    { sql: `SELECT ${STEPS.select} FROM steps ${ofRun} AND id = ?`, params: [...run, stepId] },
    { sql, params: [...run, ...run, stepId] },
  ]
}

export function attemptFrame(row: Row): AttemptFrame {
  return ATTEMPT.fromRow(row) as AttemptFrame
}

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

/** The numbers of the next passes, one more than the limit; then the run. */
function passNumberQueries({ namespace, runId, after, limit }: PassPage): Query[] {
  const params = [runId, namespace, after]
  const sql = `SELECT pass FROM (SELECT pass FROM steps ${OF_RUN} AND pass > ?
    UNION SELECT pass FROM frames ${OF_RUN} AND pass > ?) AS passes ORDER BY pass LIMIT ?`
  return [
    { sql, params: [...params, ...params, limit + 1] },
    { sql: `SELECT ${PASSING_RUN.select} FROM runs WHERE id = ? AND namespace = ?`, params: [runId, namespace] },
  ]
}

/** The reports of the passes in (after, upTo], and the number of passes up to `after` with a failure; for `passReports`. */
function passReportQueries({ namespace, runId, after, upTo }: Omit<PassPage, 'limit'> & { upTo: number }): Query[] {
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

/** Frames come first: a step that failed and is to be retried is in both, and its frame has the time of the failure. */
function passReports(found: Row[][], upTo: number): Omit<PassReports, 'run' | 'more'> {
  const [steps, frames, [count]] = found as [Row[], Row[], Row[]]
  const [ofFrames, ofSteps] = [whole(frames, upTo), whole(steps, upTo)]
  const last = Math.min(ofFrames.upTo, ofSteps.upTo)
  const rows = [...ofFrames.rows, ...ofSteps.rows].filter(([pass]) => (pass as number) <= last)
  return { reports: rows.map(report), upTo: last, failedBefore: count?.[0] as number }
}

/** Drops the last pass, which may be incomplete, unless it is the only one. */
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

/** A page of the stored reports of a run's passes; undefined if the namespace lacks the run. */
export async function passesOf(
  read: (queries: Query[]) => Promise<Row[][]>,
  page: Parameters<typeof passNumberQueries>[0],
): Promise<PassReports | undefined> {
  const [numbers, [row]] = (await read(passNumberQueries(page))) as [Row[], Row[]]
  if (!row) return undefined
  const run = PASSING_RUN.fromRow(row)
  const isCut = numbers.length > page.limit
  const upTo = isCut ? (numbers.at(-2)?.[0] as number) : Number.MAX_SAFE_INTEGER
  const found = passReports(await read(passReportQueries({ ...page, upTo })), upTo)
  return { run, ...found, more: isCut || found.upTo < upTo }
}
