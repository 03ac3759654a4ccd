// Queries about the limits that hold runs back and the runs that hold and release their places, and about singletons; and the
// meaning of their rows. Called by the reads.

import { TERMINAL_STATUSES } from '@perdure/protocol'
import { firstStartAt } from '../../../../domain/holds/throttle.ts'
import type { RunStatus } from '../../../../domain/model/run.ts'
import {
  type HeldRuns,
  LIMIT_ENDS_COUNTED_MAX,
  LIMIT_RUNS_COUNTED_MAX,
  type LimitedRun,
  type LimitRows,
  type SingletonRun,
  type SlotEnds,
} from '../../../../domain/why/limits.ts'
import type { LimitsQuery, SingletonsQuery } from '../../../../ports/store-reads.ts'
import { conditions } from '../../description/conditions.ts'
import type { Query, Row } from '../../description/values.ts'
import { HOLDS_SLOT, RUNS, SLOT_COLUMNS } from '../../tables/runs.ts'
import { FIRST_IN_START_QUEUE } from '../../write/statements.ts'
import { SAME_NAMESPACE } from './run-filter.ts'

/** The order of ids, as an expression for which no index is read. */
const BY_ID = "id || ''"

const LIMITED = RUNS.part('id', 'app', 'workflow', 'status', 'holds', 'startedAt', 'leaseOwner', 'leasedWithoutSlots')
const SINGLETON = RUNS.part('id', 'app', 'workflow', 'singletonKey', 'createdAt', 'startedAt')
type GroupRow = [id: string, waiting: number, oldestAt: number, sampleId: string]
const FIRST = RUNS.part('waitingFor', 'availableAt')

/** The column that names what a run waits for, by the kind of its wait. */
const QUEUES = { concurrency: 'waits_for_slot', throttle: 'start_queue' } as const
type Kind = keyof typeof QUEUES

/** The rows of the holders, of the groups that wait for slots, of those in start queues, and of the ends of each status. */
export function limitQueries(namespace: string, query: LimitsQuery): Query[] {
  const { terms, params } = conditions({ [SAME_NAMESPACE]: namespace, ...named(query), ...withKey('holds', query) })
  return [
    {
      sql: `SELECT ${LIMITED.select} FROM runs WHERE ${HOLDS_SLOT.slot1} AND ${terms} ORDER BY ${BY_ID} LIMIT ?`,
      params: [...params, LIMIT_RUNS_COUNTED_MAX],
    },
    groupsQuery('concurrency', namespace, query),
    groupsQuery('throttle', namespace, query),
    ...TERMINAL_STATUSES.map(status => endsQuery(status, namespace, query.endedSince)),
  ]
}

/** One run of each group in rows of `limitQueries`, and the first run of each start queue; none without groups. */
export function groupQueries([, slots = [], starts = []]: readonly Row[][]): Query[] {
  const groups = [...slots, ...starts]
  if (groups.length === 0) return []
  return [sampleQuery(groups), ...(starts.length === 0 ? [] : [firstInLineQuery(starts)])]
}

/**
 * Rows with slots, how many of the newest ended runs had them, and when the oldest of these ended. Looks at runs of other
 * namespaces too; like runs that never began, they count as having none.
 */
function endsQuery(status: RunStatus, namespace: string, since: number): Query {
  const isCounted = `namespace = ? AND started_at IS NOT NULL`
  const slots = SLOT_COLUMNS.map(slot => `CASE WHEN ${isCounted} THEN ${slot} END AS ${slot}`)
  return {
    sql: `SELECT ${SLOT_COLUMNS.join(', ')}, count(*), min(finished_at)
      FROM (SELECT ${slots.join(', ')}, finished_at FROM runs
        WHERE status = ? AND finished_at IS NOT NULL AND finished_at >= ? ORDER BY finished_at DESC LIMIT ?) AS newest
      GROUP BY ${SLOT_COLUMNS.join(', ')}`,
    params: [...SLOT_COLUMNS.map(() => namespace), status, since, LIMIT_ENDS_COUNTED_MAX],
  }
}

/** Rows for `singletonOf`, the oldest first. */
export function singletonsQuery(namespace: string, query: SingletonsQuery): Query {
  const { app, workflow, key } = query
  // With all three, an index finds the one run.
  const isOne = app !== undefined && workflow !== undefined && key !== undefined
  const { terms, params } = conditions({
    'namespace = ?': namespace,
    ...(isOne ? { 'app = ?': app, 'workflow = ?': workflow } : named(query)),
    'singleton_key = ?': key,
  })
  return {
    sql: `SELECT ${SINGLETON.select} FROM runs
      WHERE singleton_key IS NOT NULL AND finished_at IS NULL AND ${terms} ORDER BY ${BY_ID} LIMIT ?`,
    params: [...params, query.limit],
  }
}

export function singletonOf(row: Row): SingletonRun {
  return SINGLETON.fromRow(row) as SingletonRun
}

/** The groups of the oldest waiting runs. One run more than the bound shows that there are more. */
function groupsQuery(kind: Kind, namespace: string, query: LimitsQuery): Query {
  const { terms, params } = conditions({
    'namespace = ?': namespace,
    ...named(query),
    ...withKey('waiting_for', query),
  })
  const queue = QUEUES[kind]
  return {
    sql: `SELECT queue, count(*) AS waiting, min(created_at), min(id)
      FROM (SELECT ${queue} AS queue, created_at, id FROM runs
        WHERE ${terms} AND waiting_kind = '${kind}' AND ${queue} IS NOT NULL AND lease_owner IS NULL
        ORDER BY id LIMIT ?) AS oldest
      GROUP BY queue ORDER BY waiting DESC, queue LIMIT ?`,
    params: [...params, LIMIT_RUNS_COUNTED_MAX + 1, query.limit],
  }
}

/** The planner must not take an index by name, which has all runs. */
function named({ app, workflow }: Pick<LimitsQuery, 'app' | 'workflow'>) {
  return { "app || '' = ?": app, "workflow || '' = ?": workflow }
}

/** The key is found in the JSON of the column: quotes within its strings are escaped. */
function withKey(column: 'holds' | 'waiting_for', { key }: LimitsQuery) {
  return {
    [`replace(${column}, ?, '') <> ${column}`]: key === undefined ? undefined : JSON.stringify({ key }).slice(1, -1),
  }
}

/** Reads the first run of each start queue. */
function firstInLineQuery(groups: readonly Row[]): Query {
  const first = `SELECT ${FIRST.select}, start_queue ${FIRST_IN_START_QUEUE} 1`
  return {
    sql: groups.map((_, n) => `SELECT * FROM (${first}) AS first${n}`).join(' UNION ALL '),
    params: groups.map(row => (row as GroupRow)[0]),
  }
}

function sampleQuery(groups: readonly Row[]): Query {
  const ids = groups.map(row => (row as GroupRow)[3])
  return { sql: `SELECT ${LIMITED.select} FROM runs WHERE id IN (${ids.map(() => '?').join(', ')})`, params: ids }
}

/** The rows of the queries and of `groupQueries`. */
export function limitRows(
  namespace: string,
  [holders = [], slots = [], starts = [], ...ends]: Row[][],
  [samples = [], firsts = []]: readonly Row[][],
): LimitRows {
  const runOf = (row: Row): LimitedRun => ({ namespace, ...LIMITED.fromRow(row) })
  const sampled = new Map(samples.map(row => [row[0] as string, runOf(row)]))
  const nextAts = new Map(firsts.map(row => [row[2] as string, firstStartAt(FIRST.fromRow(row))]))
  const held = (rows: Row[]): HeldRuns[] =>
    rows.flatMap(row => {
      const [id, waiting, oldestAt, sampleId] = row as GroupRow
      const sample = sampled.get(sampleId)
      const nextAt = nextAts.get(id)
      return sample ? [{ id, waiting, oldestAt, ...(nextAt === undefined ? {} : { nextAt }), sample }] : []
    })
  const counted = (rows: Row[]) => rows.reduce((sum, row) => sum + (row as GroupRow)[1], 0)
  const isPart = {
    forSlots: counted(slots) > LIMIT_RUNS_COUNTED_MAX,
    forStarts: counted(starts) > LIMIT_RUNS_COUNTED_MAX,
  }
  return { holders: holders.map(runOf), forSlots: held(slots), forStarts: held(starts), isPart, ends: ends.map(endsOf) }
}

function endsOf(rows: readonly Row[]): SlotEnds {
  const bySlot = new Map<string, number>()
  let [looked, oldestAt] = [0, Number.POSITIVE_INFINITY]
  for (const row of rows) {
    const [count, at] = row.slice(-2) as [number, number]
    looked += count
    oldestAt = Math.min(oldestAt, at)
    for (const slot of row.slice(0, -2) as (string | null)[])
      if (slot !== null) bySlot.set(slot, (bySlot.get(slot) ?? 0) + count)
  }
  return { bySlot, ...(looked < LIMIT_ENDS_COUNTED_MAX ? {} : { oldestAt }) }
}
