// How many runs of each status a filter matches. Called by the reads.

import { RUN_STATUSES } from '@perdure/protocol'
import type { RunFilter, RunStatus } from '../../../../domain/model/run.ts'
import type { RunCounts } from '../../../../ports/store-reads.ts'
import type { Query, Row } from '../../description/values.ts'
import { allOf, type FilterName, filterTerms, inNamespace, isOfNamespace } from './run-filter.ts'
import { Slices } from './slices.ts'
import { listedOf, matchesNone, walksById } from './walks.ts'

/** Filters that find few runs, in an index without the namespace. */
const FEW: readonly FilterName[] = ['ids', 'bulkId', 'eventId', 'replayOf', 'parentRunId']
/** Filters with an index of the namespace that has few of its runs, in an order other than the order of their statuses. */
const NARROW: readonly FilterName[] = [...FEW, 'error', 'waitingFor', 'runner']
/** Number of runs that one read of a search finds. */
const AT_ONCE_MAX = 1000

type Read = (queries: Query[]) => Promise<Row[][]>

/** A search in texts is made in small reads, since a single statement over all runs could take minutes. */
export async function statusCounts(read: Read, namespace: string, filter: RunFilter): Promise<RunCounts> {
  const counts = Object.fromEntries(RUN_STATUSES.map(status => [status, 0])) as RunCounts
  if (filter.q !== undefined) {
    for await (const status of statusesFound(read, namespace, filter)) counts[status]++
    return counts
  }
  const [rows = []] = await read([statusCountsQuery(namespace, filter)])
  return { ...counts, ...Object.fromEntries(rows) }
}

/** Rows with a status and the number of its runs. */
export function statusCountsQuery(namespace: string, filter: RunFilter): Query {
  const { attribute: [attribute, ...others] = [], ...rest } = filter
  const has = (names: readonly FilterName[]) => names.some(name => filter[name] !== undefined)
  const { terms, params } = allOf([
    has(FEW) ? isOfNamespace(namespace) : inNamespace(namespace),
    ...filterTerms(others.length === 0 ? rest : { ...rest, attribute: others }).values(),
  ])
  if (attribute !== undefined) {
    terms.push('id IN (SELECT run_id FROM run_attributes WHERE namespace = ? AND attribute = ?)')
    params.push(namespace, attribute)
  }
  // SQLite would take the index of the statuses, which has the groups in order, and look at every run of the namespace.
  const group = has(NARROW) ? "status || ''" : 'status'
  return { sql: `SELECT ${group}, count(*) FROM runs WHERE ${terms.join(' AND ')} GROUP BY ${group}`, params }
}

async function* statusesFound(read: Read, namespace: string, filter: RunFilter): AsyncGenerator<RunStatus> {
  const listed = listedOf(namespace, { ...filter, limit: AT_ONCE_MAX })
  if (matchesNone(listed)) return
  const slices = new Slices({ walks: walksById(listed), after: undefined, isDeep: filter.deep === true })
  for (let isEnd = false; !isEnd; ) {
    const sizes = slices.sizesQuery()
    if (sizes) slices.fit((await read([sizes]))[0] as Row[])
    const found = slices.found(await read(slices.queries(AT_ONCE_MAX, 'id, status')), AT_ONCE_MAX)
    isEnd = found.isEnd
    for (const [, status] of found.runs) yield status as RunStatus
  }
}
