// A model of the list of runs in plain code. The tests compare the store with it.

import { attributeTexts } from '../../../../packages/engine/src/domain/model/attributes.ts'
import type { Run, RunFilter } from '../../../../packages/engine/src/domain/model/run.ts'
import { errorFingerprint } from '../../../../packages/engine/src/domain/view/errors/error-fingerprint.ts'
import { type RunSort, type SortDir, sortKey } from '../../../../packages/engine/src/domain/view/run-order.ts'

export const SORTS: readonly RunSort[] = ['started', 'workflow', 'status', 'app', 'duration']
export const DIRS: readonly SortDir[] = ['desc', 'asc']

export type FilterName = Exclude<keyof RunFilter, 'deep'>

/** Whether a run matches the value of each filter. The type requires an entry for every filter. */
const MATCHES: { readonly [Name in FilterName]: (run: Run, value: Required<RunFilter>[Name]) => boolean } = {
  app: (run, app) => run.app === app,
  workflow: (run, workflow) => run.workflow === workflow,
  workflows: (run, names) => names.includes(run.workflow),
  status: (run, statuses) =>
    statuses.includes(run.status) || (statuses.includes('running') && run.status === 'waiting'),
  parentRunId: (run, parentRunId) => run.parentRunId === parentRunId,
  root: (run, root) => !root || run.parentRunId === undefined,
  waitingFor: (run, kind) => run.waitingFor?.kind === kind,
  error: (run, fingerprint) => run.status === 'failed' && errorFingerprint(run) === fingerprint,
  runner: (run, runner) => run.runner === runner,
  key: (run, key) => run.startKey === key,
  ids: (run, ids) => ids.includes(run.id),
  attribute: (run, texts) => texts.every(text => attributeTexts(run.attributes).includes(text)),
  runType: (run, runType) => run.triggerKind === runType,
  kind: (run, kind) => (run.failure === undefined) === (kind === 'run'),
  eventId: (run, eventId) => run.eventId === eventId,
  replayOf: (run, replayOf) => run.replayOf === replayOf,
  // None of the runs comes from a bulk job, or has a fork.
  bulkId: () => false,
  isForked: () => false,
  endedSince: (run, at) => run.finishedAt !== undefined && run.finishedAt >= at,
  endedUntil: (run, at) => run.finishedAt !== undefined && run.finishedAt < at,
  since: (run, since) => run.createdAt >= since,
  until: (run, until) => run.createdAt < until,
  q: (run, q) => [run.id, run.workflow, run.app].some(text => text.toLowerCase().includes(q.toLowerCase())),
}

export function matches(run: Run, filter: RunFilter): boolean {
  return (Object.keys(MATCHES) as FilterName[]).every(name => {
    const value = filter[name]
    return value === undefined || MATCHES[name](run, value as never)
  })
}

/** By key as bytes, then by id. */
export function sorted<R extends Run>(runs: readonly R[], sort: RunSort, dir: SortDir): R[] {
  const sign = dir === 'asc' ? 1 : -1
  return [...runs].sort((a, b) => sign * (compare(keyOf(a, sort), keyOf(b, sort)) || compare(a.id, b.id)))
}

function keyOf(run: Run, sort: RunSort): string | number {
  return sortKey(run, sort) ?? run.createdAt
}

function compare(a: string | number, b: string | number): number {
  if (typeof a === 'string' && typeof b === 'string') return Buffer.compare(Buffer.from(a), Buffer.from(b))
  return a < b ? -1 : a > b ? 1 : 0
}
