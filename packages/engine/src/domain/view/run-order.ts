// The orders in which runs are listed (contract §4.1): by a key, then by id, both in the direction asked for.

import { type Run, runDurationMs } from '../model/run.ts'

/** `started` is the order of ids, which begin with the run's `createdAt`. */
export type RunSort = 'started' | 'workflow' | 'status' | 'app' | 'duration'
export type SortDir = 'asc' | 'desc'

/** A place in an order. There is no key in the order `started`. */
export interface RunPosition {
  key?: string | number
  id: string
}

/** What the order goes by, before the id. A run without a duration counts as 0. */
export function sortKey(run: Run, sort: RunSort): string | number | undefined {
  if (sort === 'started') return undefined
  return sort === 'duration' ? (runDurationMs(run) ?? 0) : run[sort]
}

/** Where the run stands now: status and duration change, all else of it does not. */
export function positionOf(run: Run, sort: RunSort): RunPosition {
  const key = sortKey(run, sort)
  return key === undefined ? { id: run.id } : { key, id: run.id }
}
