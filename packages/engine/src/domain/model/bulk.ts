// A bulk action (docs/concepts.md#many-runs-at-once): one action on many runs, as a durable job. Its progress is a flow-control
// row, which the timers lane claims slice by slice. Its given ids and input, which never change, are another row.

import { RUN_STATUSES } from '@perdure/protocol'
import { splice } from '../text/json-splice.ts'
import { type JsonText, objectMember } from '../text/json-text.ts'
import type { Traceparent } from '../text/traceparent.ts'
import { type FlowRow, firstVersion, flowRowId } from './flow-row.ts'
import { isTerminal, type Run, type RunFilter, type RunStatus } from './run.ts'

export type BulkAction = 'cancel' | 'pause' | 'resume' | 'replay' | 'retry-failed-step'
export type BulkOutcome = 'done' | 'skipped' | 'failed'
export type BulkCounts = Record<BulkOutcome, number>

/** How long jobs and their results are kept. */
export const BULK_KEPT_MS = 30 * 86_400_000

export interface BulkJob {
  id: string
  namespace: string
  action: BulkAction
  status: 'running' | 'stopped' | 'done'
  /** No cleanup runs follow the runs that the job cancels. */
  skipsCleanup?: true
  /** Absent: the job has a list of ids. */
  filter?: RunFilter
  actor?: string
  /** Its entry in the audit log. */
  auditId: string
  trace?: Traceparent
  createdAt: number
  finishedAt?: number
  /** The progress of the job: the last run of the list, or the number of ids. */
  after?: string
  at?: number
  /**
   * How many runs were found at its creation. Absent: the count would have taken too long, or an earlier version made the job.
   */
  found?: number
  /** Present once the job has ended; before that, the results are counted. */
  counts?: BulkCounts
}

/** The runs of the job: those that it has reached, and until it is done also the found ones that it has not reached. */
export function matchedOf({ status, found = 0 }: Pick<BulkJob, 'status' | 'found'>, counts: BulkCounts): number {
  const reached = counts.done + counts.skipped + counts.failed
  return status === 'done' ? reached : Math.max(found, reached)
}

/** The part of a request that never changes and may be large. */
export interface BulkInput {
  ids?: readonly string[]
  /** The workflows that match the pattern of the filter. */
  workflows?: readonly string[]
  input?: JsonText
}

/** The outcome for one run. */
export interface BulkResult {
  bulkId: string
  runId: string
  outcome: BulkOutcome
  newRunId?: string
  error?: string
  expiresAt: number
}

export function bulkRowId(namespace: string, bulkId: string, policy: 'bulk' | 'bulkInput' = 'bulk'): string {
  return flowRowId({ namespace, app: '', workflow: '', policy, key: bulkId })
}

/**
 * The id of the row with the job's input. The row is deleted when the job ends: an input is a payload, and the runs with it can
 * be erased.
 */
export function inputRowId({ namespace, id }: Pick<BulkJob, 'namespace' | 'id'>): string {
  return bulkRowId(namespace, id, 'bulkInput')
}

/** The job's row; with `availableAt`, the timers lane continues it at that time. */
export function bulkRow(job: BulkJob, version: number, availableAt: number | undefined): FlowRow {
  const { id: key, namespace, ...state } = job
  return {
    id: bulkRowId(namespace, key),
    namespace,
    app: '',
    workflow: '',
    policy: 'bulk',
    key,
    version,
    dueAt: job.createdAt,
    expiresAt: job.createdAt + BULK_KEPT_MS,
    state: JSON.stringify(state),
    ...(availableAt === undefined ? {} : { availableAt }),
  }
}

export function bulkJob({ key, namespace, state }: Pick<FlowRow, 'key' | 'namespace' | 'state'>): BulkJob {
  return { ...(JSON.parse(state) as Omit<BulkJob, 'id' | 'namespace'>), id: key, namespace }
}

/** The rows of a new job. */
export function newBulkRows(job: BulkJob, { ids, workflows, input }: BulkInput): FlowRow[] {
  const row = bulkRow(job, firstVersion(job.id), job.createdAt)
  if (ids === undefined && workflows === undefined && input === undefined) return [row]
  const { dueAt: _, availableAt: __, ...fixed } = row
  const given: FlowRow = {
    ...fixed,
    id: inputRowId(job),
    policy: 'bulkInput',
    state: splice({ ids, workflows }, { input }),
  }
  return [row, given]
}

/** Reads the row that `newBulkRows` stored in addition to the job's row, with exactly the given input. */
export function bulkInput(row: Pick<FlowRow, 'state'> | undefined): BulkInput {
  if (!row) return {}
  const { ids, workflows } = JSON.parse(row.state) as { ids?: string[]; workflows?: string[] }
  const input = objectMember(row.state, 'input')
  return { ...(ids && { ids }), ...(workflows && { workflows }), ...(input === undefined ? {} : { input }) }
}

const live = RUN_STATUSES.filter(status => !isTerminal(status))
const ended = RUN_STATUSES.filter(isTerminal)

/** The statuses whose runs an action applies to. */
export const ELIGIBLE: { readonly [Action in BulkAction]: readonly RunStatus[] } = {
  cancel: live,
  pause: live.filter(status => status !== 'paused'),
  resume: ['paused'],
  replay: ended,
  'retry-failed-step': ['failed'],
}

export function isEligible(action: BulkAction, { status, error }: Pick<Run, 'status' | 'error'>): boolean {
  if (!ELIGIBLE[action].includes(status)) return false
  return action !== 'retry-failed-step' || error?.code === 'step_failed'
}

/** Whether the action makes new runs; a suspended namespace starts none. */
export function forks(action: BulkAction): boolean {
  return action === 'replay' || action === 'retry-failed-step'
}

/**
 * New runs are made in the order of the old ones. An action that ends or pauses runs begins with the newest, so that a run that
 * it is about to end does not take the room that it frees.
 */
export function orderOf(action: BulkAction): 'asc' | 'desc' {
  return action === 'cancel' || action === 'pause' ? 'desc' : 'asc'
}

/** The filter in the form for lists. */
export function runsFilter({ filter = {}, workflows }: { filter?: RunFilter } & BulkInput): RunFilter {
  if (!workflows) return filter
  const { workflow: _, ...others } = filter
  return { ...others, workflows }
}

/** The same, without runs that were created after the job. */
export function filterOf({ filter, createdAt }: Pick<BulkJob, 'filter' | 'createdAt'>, given: BulkInput): RunFilter {
  const until = Math.min(filter?.until ?? Number.MAX_SAFE_INTEGER, createdAt + 1)
  return runsFilter({ ...given, filter: { ...filter, until } })
}

/** The statuses of the filter in which a run allows the action. */
export function eligibleStatuses(action: BulkAction, { status }: Pick<RunFilter, 'status'>): readonly RunStatus[] {
  if (!status) return ELIGIBLE[action]
  const wanted = status.includes('running') ? [...status, 'waiting'] : status
  return ELIGIBLE[action].filter(each => wanted.includes(each))
}

/** Whether a run that the filter has found still has the status and waits for the same kind of thing. */
export function isStillMatched({ status, waitingFor }: RunFilter, run: Pick<Run, 'status' | 'waitingFor'>): boolean {
  if (waitingFor !== undefined && run.waitingFor?.kind !== waitingFor) return false
  return status === undefined || status.includes(run.status) || (run.status === 'waiting' && status.includes('running'))
}
