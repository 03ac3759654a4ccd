// Bulk actions (docs/http-api/many-runs-at-once.md#post-bulk): counts the effects of one, starts a job, stops it, and reads it.
// The timers lane passes the job's slices to bulk-slice. Called by the HTTP routes.

import {
  type BulkAction,
  type BulkCounts,
  type BulkInput,
  type BulkJob,
  bulkJob,
  bulkRow,
  bulkRowId,
  ELIGIBLE,
  eligibleStatuses,
  filterOf,
  forks,
  inputRowId,
  isEligible,
  matchedOf,
  newBulkRows,
  orderOf,
  runsFilter,
} from '../../domain/model/bulk.ts'
import type { Change, Unit } from '../../domain/model/change.ts'
import { EngineError } from '../../domain/model/errors.ts'
import type { FlowRow } from '../../domain/model/flow-row.ts'
import type { RunFilter } from '../../domain/model/run.ts'
import type { JsonText } from '../../domain/text/json-text.ts'
import { shownFilter } from '../../domain/view/run-filter.ts'
import type { Reads, RunCounts, RunView } from '../../ports/store-reads.ts'
import type { Actor } from '../commit/audit.ts'
import type { Core } from '../commit/core.ts'
import { decideAndCommit } from '../commit/decide-and-commit.ts'

/** Runs of a page that a count or a slice reads. */
const PAGE = 200
const SAMPLE_MAX = 20
/** How long the count of a new job may take. The job begins even without the count. */
const FOUND_MS_MAX = 2000

type BulkDeps = Pick<Core, 'store' | 'namespaces' | 'announcer' | 'clock' | 'ids' | 'log' | 'audit'>

/** A bulk action as the caller requested it: with a filter or with ids. */
export interface BulkRequest extends BulkInput, Pick<BulkJob, 'skipsCleanup'> {
  action: BulkAction
  filter?: RunFilter
}

export interface BulkPreview {
  matched: number
  eligible: number
  skipped: number
  /** Eligible runs with a fork. Absent: the action makes no forks. */
  replayed?: number
  sample: RunView[]
}

/** A job with the counts of its results. */
export type BulkView = BulkJob & { counts: BulkCounts }

export class Bulk {
  readonly #deps: BulkDeps

  constructor(deps: BulkDeps) {
    this.#deps = deps
  }

  /** Resolves when the job is durable; it begins at once. */
  async start(actor: Actor, { action, filter, ids, workflows, input, skipsCleanup }: BulkRequest): Promise<string> {
    const { announcer, clock, ids: idSource, namespaces, audit } = this.#deps
    const { namespace, label, trace } = actor
    if (forks(action)) namespaces.assertActive(namespace)
    const createdAt = clock.now()
    const given: BulkInput = {
      ...(ids && { ids: [...new Set(ids)] }),
      ...(workflows && { workflows }),
      ...(input === undefined ? {} : { input }),
    }
    const found = given.ids ? given.ids.length : await this.#found(namespace, filterOf({ filter, createdAt }, given))
    const entry = audit.entry(actor, { action: `bulk.${action}` })
    const job: BulkJob = {
      id: idSource.next('blk', createdAt),
      namespace,
      action,
      status: 'running',
      auditId: entry.id,
      createdAt,
      ...(filter && { filter }),
      ...(skipsCleanup && { skipsCleanup }),
      ...(found === undefined ? {} : { found }),
      ...(label === undefined ? {} : { actor: label }),
      ...(trace === undefined ? {} : { trace }),
    }
    const changes: Change[] = newBulkRows(job, given).map(row => ({ type: 'flow.saved', row }))
    await audit.record({ guards: [], changes }, { ...entry, detail: auditDetail(job) })
    announcer.announce(changes)
    return job.id
  }

  /** The runs that the filter of a new job matches; undefined if they cannot be counted in time. */
  async #found(namespace: string, filter: RunFilter): Promise<number | undefined> {
    const { store, clock } = this.#deps
    const given = new AbortController()
    const cancelTimer = clock.after(FOUND_MS_MAX, () => given.abort())
    try {
      return sumOf(await store.in(namespace).statusCounts(filter, given.signal))
    } catch {
      // A store that is too busy to count can still take the job.
      return undefined
    } finally {
      cancelTimer()
    }
  }

  /** Counts what a job would do now. The signal aborts the count. */
  async preview(namespace: string, request: BulkRequest, signal: AbortSignal): Promise<BulkPreview> {
    const { action, ids } = request
    const reads = this.#deps.store.in(namespace)
    if (ids) return previewOf(action, reads, new Set(ids))
    const filter = runsFilter(request)
    const counts = await reads.statusCounts(filter, signal)
    const matched = sumOf(counts)
    const allowed = ELIGIBLE[action].reduce((sum, status) => sum + counts[status], 0)
    // Statuses do not show which step failed: all those runs must be looked at.
    const isCounted = action !== 'retry-failed-step'
    const count = isCounted ? Math.min(allowed, SAMPLE_MAX) : allowed
    const found = { ...filter, status: eligibleStatuses(action, filter) }
    const sample: RunView[] = []
    let [reached, replayed] = [0, 0]
    for await (const runs of eligibleRuns(reads, { action, filter: found, count }, signal)) {
      sample.push(...runs.slice(0, SAMPLE_MAX - sample.length))
      reached += runs.length
      if (!isCounted) replayed += await forkedOf(reads, runs)
    }
    const eligible = isCounted ? allowed : reached
    if (isCounted && forks(action)) replayed = sumOf(await reads.statusCounts({ ...found, isForked: true }, signal))
    return countsOf(action, { matched, eligible, replayed, sample })
  }

  /** How many of the job's new runs have each status; undefined for an action that makes no runs. */
  async newRuns({ namespace, id, action }: BulkView): Promise<RunCounts | undefined> {
    return forks(action) ? this.#deps.store.in(namespace).statusCounts({ bulkId: id }) : undefined
  }

  /** @throws EngineError `not_found`. */
  async read(namespace: string, bulkId: string): Promise<BulkView> {
    return this.#view(bulkJob(await this.#row(namespace, bulkId)))
  }

  async list(namespace: string, query: { limit: number; before?: { dueAt: number; id: string } | undefined }) {
    const rows = await this.#deps.store.in(namespace).bulkJobs(query)
    return { rows, jobs: await Promise.all(rows.map(row => this.#view(bulkJob(row)))) }
  }

  /** Stops the job: runs that it has not reached stay unchanged. Does nothing if the job has ended. */
  async stop(actor: Actor, bulkId: string): Promise<BulkView> {
    const { store, clock, announcer, log, audit } = this.#deps
    const { namespace } = actor
    let row = await this.#row(namespace, bulkId)
    const stopped = await decideAndCommit<Unit & { row: FlowRow }>({
      store,
      decide: async assumptions => {
        if (assumptions.flow.has(row.id)) row = await this.#row(namespace, bulkId)
        const job = bulkJob(row)
        if (job.status !== 'running') return undefined
        const ended = bulkRow({ ...job, status: 'stopped', finishedAt: clock.now() }, row.version + 1, undefined)
        const guard = { type: 'flow', id: row.id, version: row.version } as const
        const changes: Change[] = [
          { type: 'flow.saved', row: ended },
          { type: 'flow.deleted', id: inputRowId(job) },
        ]
        return { guards: [guard], changes, row: ended }
      },
      onStale: () => true,
    })
    const view = await this.#view(bulkJob(stopped?.row ?? row))
    if (!stopped) return view
    announcer.announce(stopped.changes)
    // The row's version has risen, so no slice can add a result any more.
    await audit
      .record({ guards: [], changes: [] }, { ...endEntry(view), detail: auditDetail(view) })
      .catch(err => log.error({ err, bulkId }, 'the counts of a stopped job were not recorded'))
    return view
  }

  async #row(namespace: string, bulkId: string): Promise<FlowRow> {
    const row = await this.#deps.store.flowRow(bulkRowId(namespace, bulkId))
    if (!row) throw new EngineError('not_found', `There is no bulk job ${bulkId}.`)
    return row
  }

  async #view(job: BulkJob): Promise<BulkView> {
    return { ...job, counts: job.counts ?? (await this.#deps.store.in(job.namespace).bulkCounts(job.id)) }
  }
}

function sumOf(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0)
}

/** The audit entry of a job, without its detail. */
export function endEntry({ auditId: id, namespace, action, actor, createdAt }: BulkJob) {
  return { id, namespace, action: `bulk.${action}` as const, createdAt, ...(actor === undefined ? {} : { actor }) }
}

/** The detail of that entry: the filter, or how many ids, and the counts once there are some. */
export function auditDetail(job: BulkJob): JsonText {
  const { id, status, filter, counts, found, skipsCleanup } = job
  const matched = counts ? matchedOf(job, counts) : found
  const cleanup = skipsCleanup ? { cleanup: false } : {}
  return JSON.stringify({ bulkId: id, status, filter: filter && shownFilter(filter), ...cleanup, matched, ...counts })
}

async function previewOf(action: BulkAction, reads: Reads, ids: ReadonlySet<string>): Promise<BulkPreview> {
  const eligible = (await runsNamed(reads, [...ids])).filter(run => isEligible(action, run))
  const replayed = forks(action) ? await forkedOf(reads, eligible) : 0
  return countsOf(action, { matched: ids.size, eligible: eligible.length, replayed, sample: eligible })
}

function countsOf(action: BulkAction, counted: Required<Omit<BulkPreview, 'skipped'>>): BulkPreview {
  const { matched, eligible, replayed, sample } = counted
  const counts = { matched, eligible, skipped: matched - eligible, ...(forks(action) ? { replayed } : {}) }
  return { ...counts, sample: sample.slice(0, SAMPLE_MAX) }
}

/** How many of the runs have a fork. */
async function forkedOf(reads: Reads, runs: readonly RunView[]): Promise<number> {
  let forked = 0
  for (let at = 0; at < runs.length; at += PAGE) {
    const ids = runs.slice(at, at + PAGE).map(({ id }) => id)
    forked += sumOf(await reads.statusCounts({ ids, isForked: true }))
  }
  return forked
}

/** The runs with these ids; each id occurs once. */
async function runsNamed(reads: Reads, ids: readonly string[]): Promise<RunView[]> {
  const runs: RunView[] = []
  for (let at = 0; at < ids.length; at += PAGE) {
    const page = ids.slice(at, at + PAGE)
    runs.push(...(await reads.runs({ ids: page, limit: page.length })))
  }
  return runs
}

/** The runs of the filter whose state allows the action, among its first `count`, page by page. */
async function* eligibleRuns(
  reads: Reads,
  { action, filter, count }: { action: BulkAction; filter: RunFilter; count: number },
  signal: AbortSignal,
): AsyncGenerator<RunView[]> {
  let left = count
  for (let after: { id: string } | undefined; left > 0; ) {
    const limit = Math.min(PAGE, left)
    const page: RunView[] = await reads.runs(
      { ...filter, dir: orderOf(action), limit, ...(after && { after }) },
      signal,
    )
    yield page.filter(run => isEligible(action, run))
    const last = page.at(-1)
    if (!last || page.length < limit) return
    after = { id: last.id }
    left -= page.length
    signal.throwIfAborted()
  }
}
