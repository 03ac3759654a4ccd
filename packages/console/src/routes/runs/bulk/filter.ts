// The filter of the runs list as that of a bulk job, which knows fewer members. Pure.

import type { Input } from '@perdure/client'

type ListInput = Input<'listRuns'>

export type BulkBody = Input<'startBulk'>['body']
export type BulkFilter = NonNullable<BulkBody['filter']>

/** Filters of the list that a bulk job does not have, as the box of qualifiers calls them. */
const UNKNOWN = { q: 'text', waitingFor: 'waiting:' } as const

/** The filter, or why all runs that match cannot be selected. */
export function bulkFilter(input: ListInput): { filter: BulkFilter } | { because: string } {
  const unknown = Object.entries(UNKNOWN).flatMap(([name, shown]) =>
    input[name as keyof typeof UNKNOWN] === undefined ? [] : [shown],
  )
  if (unknown.length > 0) return { because: `a bulk action cannot filter by ${unknown.join(' and ')}` }
  const { app, workflow, status, runType, since, until, error, parentRunId, attribute } = input
  const filter = { app, workflow, status: statusesOf(status), runType, since, until, error, parentRunId, attribute }
  if (workflow !== undefined && /.\*$/su.test(workflow))
    return { because: 'a bulk action needs the whole name of a workflow' }
  const given = Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined)) as BulkFilter
  return Object.keys(given).length > 0 ? { filter: given } : { because: 'give a filter first, such as a status' }
}

function statusesOf(status: ListInput['status']): BulkFilter['status'] {
  if (status === undefined) return undefined
  const all = (typeof status === 'string' ? status.split(',') : [...status]) as Extract<BulkFilter['status'], unknown[]>
  return all.length === 1 ? all[0] : all
}
