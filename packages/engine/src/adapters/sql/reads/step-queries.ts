// Queries about the steps of one run and their attempts. Called by sql-reads.ts.

import type { AttemptFrame } from '../../../domain/view/step-attempts.ts'
import { ATTEMPTS_READ_MAX, type StepQuery } from '../../../ports/store-reads.ts'
import type { Query, Row, Value } from '../description/values.ts'
import { FINAL_STATUSES } from '../tables/statuses.ts'
import { STEPS } from '../tables/steps.ts'
import { SCOPED_RUN } from './run-queries.ts'
import { folded } from './text-search.ts'

/** More than any index of a step. */
const INDEX_MAX = 2 ** 31 - 1

interface StepSlice {
  /** The first index. */
  from: number
  bytesMax: number
  limit: number
}

/**
 * Rows of `STEPS` that match, from an index on, in index order, until their payloads exceed so many bytes, and at least one;
 * then the last index that matches. Neither database loads texts to find out how long they are.
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

function stepFilter({ status, q }: StepQuery): { terms: string; params: Value[] } {
  const terms: string[] = []
  const params: Value[] = []
  if (status) {
    terms.push(` AND status IN (${status.map(() => '?').join(', ')})`)
    params.push(...status)
  }
  if (q) {
    terms.push(' AND text_has(?, name)')
    params.push(folded(q))
  }
  return { terms: terms.join(''), params }
}

const ATTEMPT_COLUMNS = 'step_index, ts, status, attempt, error, pass, runner, pass_sent_at, ran_at, ran_ms'

/** The step with the id, and the newest frames that ended its attempts, the newest first; for `attemptFrame`. */
export function stepQueries(namespace: string, runId: string, stepId: string): Query[] {
  const ofRun = `WHERE run_id = ${SCOPED_RUN}`
  const run = [runId, namespace]
  const sql = `SELECT ${ATTEMPT_COLUMNS} FROM frames ${ofRun}
    AND step_index = (SELECT idx FROM steps ${ofRun} AND id = ?)
    AND (status = 'retrying' OR status IN ${FINAL_STATUSES}) ORDER BY seq DESC LIMIT ${ATTEMPTS_READ_MAX}`
  return [
    { sql: `SELECT ${STEPS.select} FROM steps ${ofRun} AND id = ?`, params: [...run, stepId] },
    { sql, params: [...run, ...run, stepId] },
  ]
}

export function attemptFrame(row: Row): AttemptFrame {
  const [stepIndex, ts, status, attempt, error, pass, runner, passSentAt, ranAt, ranMs] = row as [
    number,
    number,
    AttemptFrame['status'],
    number,
    ...(string | number | null)[],
  ]
  const given = Object.entries({ pass, runner, passSentAt, ranAt, ranMs }).filter(([, value]) => value !== null)
  const what = error === null ? {} : { error: JSON.parse(error as string) }
  return { stepIndex, ts, status, attempt, ...what, ...Object.fromEntries(given) }
}
