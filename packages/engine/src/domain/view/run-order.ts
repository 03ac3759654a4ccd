// The orders of a list of runs (docs/concepts.md#lists-and-cursors): by a key, then by id, in one direction.

import { type Run, runDurationMs } from '../model/run.ts'

/** `started` is the order of ids, which begin with the run's `createdAt`. */
export type RunSort = 'started' | 'workflow' | 'status' | 'app' | 'duration'
export type SortDir = 'asc' | 'desc'

/** A position in an order. The order `started` has no key except the id. */
export interface RunPosition {
  key?: string | number
  id: string
}

/** The sort key of the order, which precedes the id. A run without a duration counts as 0. */
export function sortKey(run: Run, sort: RunSort): string | number | undefined {
  if (sort === 'started') return undefined
  return sort === 'duration' ? (runDurationMs(run) ?? 0) : run[sort]
}

/** The run's present position. It changes only in the orders by status and duration. */
export function positionOf(run: Run, sort: RunSort): RunPosition {
  const key = sortKey(run, sort)
  return key === undefined ? { id: run.id } : { key, id: run.id }
}
