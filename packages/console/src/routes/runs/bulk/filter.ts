// Converts the filter of the runs list to a bulk job's: without the order and the page. Pure.

import type { Input } from '@perdure/client'

type ListInput = Input<'listRuns'>

export type JobBody = Input<'startBulk'>['body']
/** The filter of a bulk job. */
export type JobFilter = NonNullable<JobBody['filter']>

/** The members of a list's input that a job accepts unchanged: a filter of the list that jobs lack does not compile. */
type Shared = { [Name in keyof ListInput]?: Name extends keyof JobFilter ? ListInput[Name] : never }

/** Returns the filter, or the reason why all matching runs cannot be selected. */
export function bulkFilter(input: ListInput): { filter: JobFilter } | { because: string } {
  const { limit, cursor, partial, position, sort, dir, ids, bulkId, status, q, deep, ...others } = input
  if (bulkId !== undefined) return { because: 'select runs of a bulk job row by row' }
  const filter = { ...(others satisfies Shared), ...(q ? { q, deep } : {}), status: statusesOf(status) }
  const given = Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined)) as JobFilter
  return Object.keys(given).length > 0 ? { filter: given } : { because: 'add a filter first, such as a status' }
}

function statusesOf(status: ListInput['status']): JobFilter['status'] {
  if (status === undefined) return undefined
  const all = (typeof status === 'string' ? status.split(',') : [...status]) as Extract<JobFilter['status'], unknown[]>
  return all.length === 1 ? all[0] : all
}
