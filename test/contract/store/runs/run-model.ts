// A model of the list of runs in plain code, with which the tests compare the store.

import type { Run } from '../../../../packages/engine/src/domain/model/run.ts'
import { type RunSort, type SortDir, sortKey } from '../../../../packages/engine/src/domain/view/run-order.ts'
import type { RunFilter } from '../../../../packages/engine/src/ports/store-reads.ts'

export const SORTS: readonly RunSort[] = ['started', 'workflow', 'status', 'app', 'duration']
export const DIRS: readonly SortDir[] = ['desc', 'asc']

export function matches(run: Run, filter: RunFilter): boolean {
  const { app, workflow, status, runType, eventId, replayOf, since, q } = filter
  const equal = (wanted: string | undefined, value: string | undefined) =>
    wanted === undefined || wanted === value
  const named = [run.id, run.workflow, run.app].some(text =>
    text.toLowerCase().includes(q?.toLowerCase() ?? ''),
  )
  return (
    equal(app, run.app) &&
    equal(workflow, run.workflow) &&
    (equal(status, run.status) || (status === 'running' && run.status === 'waiting')) &&
    equal(runType, run.triggerKind) &&
    equal(eventId, run.eventId) &&
    equal(replayOf, run.replayOf) &&
    (since === undefined || run.createdAt >= since) &&
    named
  )
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
