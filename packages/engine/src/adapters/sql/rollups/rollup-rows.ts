// Adds groups of ends to the rows of the roll-ups, inside the writer's transaction. Called by count-ends.ts.

import { type RollupSpan, type SeriesStep, SPAN_MS, spanStart } from '../../../domain/view/rollup-span.ts'
import { addTally, type RunTally, tallyOf } from '../../../domain/view/run-tally.ts'
import { query, type Work } from '../claims/transaction-work.ts'
import type { Value } from '../description/values.ts'
import { type Rollup, RUN_ROLLUPS } from '../tables/ended-runs.ts'
import type { EndGroup } from './ends.ts'

/** Rows that one statement reads or writes; there is a statement for each of these numbers. */
const ROWS_AT_ONCE = [50, 10, 1] as const

type Key = [span: RollupSpan, namespace: string, app: string, workflow: string, at: number]

const READ_ONE = `SELECT ${RUN_ROLLUPS.select} FROM run_rollups
  WHERE span = ? AND namespace = ? AND app = ? AND workflow = ? AND at = ?i`
const UPSERT = {
  into: `INSERT INTO run_rollups (${RUN_ROLLUPS.columns.join(', ')}) VALUES`,
  row: `(${RUN_ROLLUPS.columns.map(column => (RUN_ROLLUPS.typeOf(column) === 'integer' ? '?i' : '?')).join(', ')})`,
  conflict: `ON CONFLICT (${RUN_ROLLUPS.key?.join(', ')}) DO UPDATE SET ${RUN_ROLLUPS.columns
    .filter(column => !RUN_ROLLUPS.key?.includes(column))
    .map(column => `${column} = excluded.${column}`)
    .join(', ')}`,
}

export function* addToRollups(groups: readonly EndGroup[]): Work<void> {
  const added = spread(groups)
  for (const keys of chunks([...added.keys()])) {
    const reads = keys.map(() => READ_ONE).join(' UNION ALL ')
    const rows = yield* query(reads, keys.flatMap(keyOf))
    for (const row of rows) {
      const stored = RUN_ROLLUPS.fromRow(row)
      addTally(added.get(textOf(stored)) as RunTally, rollupTally(stored))
    }
    const values: Value[] = []
    for (const key of keys) RUN_ROLLUPS.append(values, rollup(keyOf(key), added.get(key) as RunTally))
    yield* query(`${UPSERT.into} ${keys.map(() => UPSERT.row).join(', ')} ${UPSERT.conflict}`, values)
  }
}

/** The tally of a stored row. */
function rollupTally(row: Rollup): RunTally {
  const { started, succeeded, failed, cancelled } = row
  return {
    started,
    succeeded,
    failed,
    cancelled,
    durations: { sumMs: row.sumMs, counts: classCounts(row.histogram) },
    queueTimes: { sumMs: row.queueSumMs, counts: classCounts(row.queueHistogram) },
    onFailure: {
      succeeded: row.onFailureSucceeded ?? 0,
      failed: row.onFailureFailed ?? 0,
      cancelled: row.onFailureCancelled ?? 0,
    },
    cleanup: {
      succeeded: row.cleanupSucceeded ?? 0,
      failed: row.cleanupFailed ?? 0,
      cancelled: row.cleanupCancelled ?? 0,
    },
  }
}

function classCounts(histogram: Record<string, number>): Map<number, number> {
  return new Map(Object.entries(histogram).map(([of, count]) => [Number(of), count]))
}

/** The tally that each row gains, by the text of its key. */
function spread(groups: readonly EndGroup[]): Map<string, RunTally> {
  // All groups belong to a few workflows and spans: these are added up first.
  const finest = new Map<string, RunTally>()
  for (const { namespace, app, workflow, started, createdAt, endedAt, ended } of groups) {
    addTally(tallyOf(finest, JSON.stringify(['5m', namespace, app, workflow, endedAt])), ended)
    tallyOf(finest, JSON.stringify(['5m', namespace, app, workflow, createdAt])).started += started
  }
  const all = new Map<string, RunTally>()
  for (const [text, tally] of finest) {
    const [, namespace, app, workflow, at] = keyOf(text)
    addTally(tallyOf(all, JSON.stringify(['all', namespace, app, workflow, 0])), tally)
    for (const span of Object.keys(SPAN_MS) as SeriesStep[]) {
      const start = spanStart(span, at)
      for (const names of [
        [app, workflow],
        [app, ''],
        ['', ''],
      ])
        addTally(tallyOf(all, JSON.stringify([span, namespace, ...names, start])), tally)
    }
  }
  return all
}

function textOf({ span, namespace, app, workflow, at }: Rollup): string {
  return JSON.stringify([span, namespace, app, workflow, at] satisfies Key)
}

function keyOf(text: string): Key {
  return JSON.parse(text) as Key
}

function rollup([span, namespace, app, workflow, at]: Key, tally: RunTally): Rollup {
  const { durations, queueTimes, onFailure, cleanup, ...counts } = tally
  return {
    span,
    namespace,
    app,
    workflow,
    at,
    ...counts,
    sumMs: durations.sumMs,
    histogram: Object.fromEntries(durations.counts),
    queueSumMs: queueTimes.sumMs,
    queueHistogram: Object.fromEntries(queueTimes.counts),
    onFailureSucceeded: onFailure.succeeded,
    onFailureFailed: onFailure.failed,
    onFailureCancelled: onFailure.cancelled,
    cleanupSucceeded: cleanup.succeeded,
    cleanupFailed: cleanup.failed,
    cleanupCancelled: cleanup.cancelled,
  }
}

/** Splits the items into chunks of sizes for which there are statements. */
function* chunks<T>(items: readonly T[]): Generator<T[]> {
  for (let at = 0; at < items.length; ) {
    const size = ROWS_AT_ONCE.find(each => each <= items.length - at) as number
    yield items.slice(at, at + size)
    at += size
  }
}
