// Processes a slice of a bulk action: some runs, each in its own commit with its result. Every commit is guarded by the version
// of the job's row, which rises with each lease, slice and stop; a slice that is repeated after a crash passes over the runs
// that have a result. Each run is therefore acted on at most once. Called by services/event/timers.

import {
  BULK_KEPT_MS,
  type BulkInput,
  type BulkJob,
  type BulkResult,
  bulkInput,
  bulkJob,
  bulkRow,
  filterOf,
  inputRowId,
  orderOf,
} from '../../domain/model/bulk.ts'
import type { Change, Guard, Unit } from '../../domain/model/change.ts'
import type { DecidedUnit } from '../../domain/model/decision.ts'
import { EngineError, StaleError } from '../../domain/model/errors.ts'
import type { FlowRow } from '../../domain/model/flow-row.ts'
import { derivedId } from '../../domain/text/ids.ts'
import type { Core } from '../commit/core.ts'
import { decideAndCommit } from '../commit/decide-and-commit.ts'
import { auditDetail, endEntry } from './bulk.ts'
import { type BulkStep, BulkSteps, type BulkStepsDeps } from './bulk-steps.ts'

/** Runs of one slice, and how many of these are under way at once. */
const SLICE = 50
const IN_FLIGHT = 8
/** How long a slice looks for its runs if few match: far shorter than the lease of the job's row. */
const SEARCH_MS = 2000

export interface BulkSliceDeps extends BulkStepsDeps, Pick<Core, 'announcer' | 'log' | 'audit'> {
  /** How long a slice looks for its runs. Default: `SEARCH_MS`. */
  bulkSearchMs?: number | undefined
}

/** Another engine, or a stop, took the job over. */
class JobLost extends Error {}

interface Slice {
  runIds: string[]
  /** The job's position after the slice; absent: this is the last slice. */
  next?: Pick<BulkJob, 'after' | 'at'>
}

export class BulkSlices {
  readonly #deps: BulkSliceDeps
  readonly #steps: BulkSteps

  constructor(deps: BulkSliceDeps) {
    this.#deps = deps
    this.#steps = new BulkSteps(deps)
  }

  /** Processes the next slice of a job whose row the timers lane has claimed. */
  async work(row: FlowRow): Promise<void> {
    const job = bulkJob(row)
    if (job.status !== 'running') return
    const { store } = this.#deps
    const given = bulkInput(await store.flowRow(inputRowId(job)))
    // A stop has removed the ids in the meantime.
    if (!job.filter && !given.ids) return
    try {
      const slice = await this.#next(job, given)
      await this.#actOnAll(row, { job, given, runIds: await this.#withoutResult(job, slice.runIds) })
      await this.#conclude(row, job, slice)
    } catch (error) {
      if (!(error instanceof JobLost)) throw error
    }
  }

  async #next(job: BulkJob, given: BulkInput): Promise<Slice> {
    const { ids } = given
    if (ids) {
      const from = job.at ?? 0
      const at = from + SLICE
      return { runIds: ids.slice(from, at), ...(at < ids.length && { next: { at } }) }
    }
    const reads = this.#deps.store.in(job.namespace)
    const position = job.after === undefined ? {} : { after: { id: job.after } }
    const list = { ...filterOf(job, given), dir: orderOf(job.action), limit: SLICE, ...position }
    const { runs, lookedTo } = await this.#inTime(enough => reads.partOfRuns(list, { enough }))
    // Where few runs match, the job moves past the runs that were looked at.
    const last = runs.length === SLICE ? runs.at(-1) : lookedTo
    // The job's own forks of its first millisecond match its filter too.
    const sources = runs.filter(run => run.createdAt >= job.createdAt).flatMap(({ replayOf }) => replayOf ?? [])
    const made = await reads.bulkResults(job.id, { runIds: sources, limit: sources.length })
    const own = new Set(made.map(({ newRunId }) => newRunId))
    const runIds = runs.map(({ id }) => id).filter(id => !own.has(id))
    return { runIds, ...(last && { next: { after: last.id } }) }
  }

  /** Makes a search return what it has found when its time is over. */
  async #inTime<T>(search: (enough: AbortSignal) => Promise<T>): Promise<T> {
    const { clock, bulkSearchMs = SEARCH_MS } = this.#deps
    const enough = new AbortController()
    const cancelTimer = clock.after(bulkSearchMs, () => enough.abort())
    try {
      return await search(enough.signal)
    } finally {
      cancelTimer()
    }
  }

  /** The runs of this slice that a dead engine has not reached. */
  async #withoutResult(job: BulkJob, runIds: string[]): Promise<string[]> {
    const results = await this.#deps.store.in(job.namespace).bulkResults(job.id, { runIds, limit: runIds.length })
    const known = new Set(results.map(({ runId }) => runId))
    return runIds.filter(id => !known.has(id))
  }

  async #actOnAll(row: FlowRow, work: { job: BulkJob; given: BulkInput; runIds: readonly string[] }): Promise<void> {
    const { job, given, runIds } = work
    const left = [...runIds]
    const actOnSome = async () => {
      for (let runId = left.shift(); runId !== undefined; runId = left.shift()) {
        await this.#act(row, { job, given, runId })
      }
    }
    const lanes = await Promise.allSettled(Array.from({ length: IN_FLIGHT }, actOnSome))
    for (const lane of lanes) if (lane.status === 'rejected') throw lane.reason
  }

  async #act(row: FlowRow, { job, given, runId }: { job: BulkJob; given: BulkInput; runId: string }): Promise<void> {
    const { clock, log } = this.#deps
    const result = { bulkId: job.id, runId, expiresAt: job.createdAt + BULK_KEPT_MS }
    const newRunAt = clock.now()
    const newRun = { id: derivedId('run', newRunAt, job.id, runId), now: newRunAt }
    try {
      const step = await this.#steps.of({ job, given, runId, newRun })
      await this.#commit(row, step, { ...result, outcome: 'done', ...(step.newRunId && { newRunId: step.newRunId }) })
      step.afterwards?.()
    } catch (error) {
      if (error instanceof JobLost) throw error
      const outcome = isRefusal(error) ? 'skipped' : 'failed'
      if (outcome === 'failed') log.error({ err: error, runId, bulkId: job.id }, 'a bulk action failed on a run')
      const message = error instanceof EngineError ? error.message : 'internal error'
      await this.#commit(row, { decide: () => NOTHING }, { ...result, outcome, error: message })
    }
  }

  /** Decides and commits with the result; throws JobLost when the job's row has changed. */
  async #commit(row: FlowRow, step: BulkStep, result: BulkResult): Promise<void> {
    const { store, announcer } = this.#deps
    const guard: Guard = { type: 'flow', id: row.id, version: row.version }
    const decided = await decideAndCommit<DecidedUnit>({
      store,
      namespace: row.namespace,
      decide: assumptions => {
        if (assumptions.flow.has(row.id) && assumptions.flow.get(row.id)?.version !== row.version) return undefined
        return step.decide(assumptions)
      },
      unit: ({ guards, changes }) => ({
        guards: [...guards, guard],
        changes: [...changes, { type: 'bulkResult.recorded', result }],
      }),
      onStale: async () => {
        await step.reload?.()
        return true
      },
    })
    if (!decided) throw new JobLost()
    announcer.announce(decided.changes)
  }

  /** Moves the job past the slice, or ends it, with its counts in the audit log. */
  async #conclude(row: FlowRow, job: BulkJob, { next }: Slice): Promise<void> {
    const { store, announcer, clock, audit } = this.#deps
    const now = clock.now()
    const counts = next ? undefined : await store.in(job.namespace).bulkCounts(job.id)
    const moved: BulkJob = counts ? { ...job, status: 'done', finishedAt: now, counts } : { ...job, ...next }
    const saved = bulkRow(moved, row.version + 1, next && now)
    const changes: Change[] = [{ type: 'flow.saved', row: saved }]
    if (!next) changes.push({ type: 'flow.deleted', id: inputRowId(job) })
    const unit: Unit = { guards: [{ type: 'flow', id: row.id, version: row.version }], changes }
    try {
      if (next) await store.commit(unit)
      else await audit.record(unit, { ...endEntry(moved), detail: auditDetail(moved) })
    } catch (error) {
      if (error instanceof StaleError) throw new JobLost()
      throw error
    }
    announcer.announce(changes)
  }
}

const NOTHING: Unit = { guards: [], changes: [] }
const REFUSALS: ReadonlySet<string> = new Set([
  'not_found',
  'step_not_found',
  'run_terminal',
  'run_not_paused',
  'run_not_finished',
  'conflict',
  'already_running',
])

/** The run's state does not allow the action. */
function isRefusal(error: unknown): boolean {
  return error instanceof EngineError && REFUSALS.has(error.code)
}
