// The filter of the runs list as that of a bulk job: without the order and the page. Pure.

import type { Input } from '@perdure/client'

type ListInput = Input<'listRuns'>

export type BulkBody = Input<'startBulk'>['body']
export type BulkFilter = NonNullable<BulkBody['filter']>

/** The filter, or why all runs that match cannot be selected. */
export function bulkFilter(input: ListInput): { filter: BulkFilter } | { because: string } {
  const { app, workflow, status, runType, since, until, error, parentRunId, attribute, waitingFor, q, deep } = input
  const { endedSince, endedUntil } = input
  const text = q ? { q, deep } : {}
  const others = {
    app,
    workflow,
    runType,
    since,
    until,
    error,
    parentRunId,
    attribute,
    waitingFor,
    endedSince,
    endedUntil,
    ...text,
  }
  if (input.bulkId !== undefined) return { because: 'the runs that a bulk job made are selected row by row' }
  const filter = { ...others, status: statusesOf(status) }
  const given = Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined)) as BulkFilter
  return Object.keys(given).length > 0 ? { filter: given } : { because: 'give a filter first, such as a status' }
}

function statusesOf(status: ListInput['status']): BulkFilter['status'] {
  if (status === undefined) return undefined
  const all = (typeof status === 'string' ? status.split(',') : [...status]) as Extract<BulkFilter['status'], unknown[]>
  return all.length === 1 ? all[0] : all
}
