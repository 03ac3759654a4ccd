// Parts of a bulk job as text.

import type { Calls } from '@perdure/client'
import type { Item } from '../../data/queries.ts'
import { VALUE_BREAK } from '../../router/routes.ts'
import { Status } from '../../ui/status.tsx'
import { NAMES_ALONE } from '../runs/box/qualifiers.ts'
import type { JobFilter } from '../runs/bulk/filter.ts'
import type { NotOfPage } from '../runs/query.ts'

type Bulk = Item<'listBulks'>
export type BulkDetail = Calls['getBulk']['reply']

const LOOKS = { running: 'running', stopped: 'cancelled', done: 'succeeded' } as const

export function JobStatus({ status }: { status: Bulk['status'] }) {
  return <Status status={LOOKS[status]} word={status} />
}

const OUTCOMES = { done: 'succeeded', skipped: 'cancelled', failed: 'failed' } as const

export function Outcome({ outcome }: { outcome: 'done' | 'skipped' | 'failed' }) {
  return <Status status={OUTCOMES[outcome]} word={outcome} />
}

/** Returns how many runs the job has processed: each has a result. */
export function reachedOf({ done = 0, skipped = 0, failed = 0 }: Partial<BulkDetail>): number {
  return done + skipped + failed
}

/** Returns the filter as qualifiers. A job without a filter took runs by id. */
export function filterText(filter: Bulk['filter']): string {
  if (!filter) return 'selected runs'
  return Object.entries(filter)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}:${[value].flat().join(',')}`)
    .join(' ')
}

/** The filters of a job that the list lacks. A filter that is neither here nor read below does not compile. */
type Lacked = { [Name in keyof JobFilter]: Name extends NotOfPage ? JobFilter[Name] : never }

/** Returns the same filter in the list of runs; undefined if the list does not have all of it. */
export function runsQuery(filter: Bulk['filter']) {
  if (!filter) return undefined
  const { app, workflow, status, runType, since, until, error, parentRunId, root, attribute, ...more } = filter
  const { waitingFor, key, endedSince, endedUntil, q, deep, ...others } = more
  if (Object.keys(others satisfies Lacked).length > 0) return undefined
  return {
    app,
    workflow,
    status: status && [status].flat().join(','),
    type: runType,
    since,
    until,
    'ended-since': endedSince,
    'ended-until': endedUntil,
    error,
    parent: parentRunId,
    root: root ? 'true' : undefined,
    key,
    attribute: attribute && [attribute].flat().join(VALUE_BREAK),
    waiting: waitingFor,
    q,
    deep: q && !deep ? NAMES_ALONE : undefined,
  }
}
