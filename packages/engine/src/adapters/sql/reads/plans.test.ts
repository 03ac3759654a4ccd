// Reads of few runs use the small index that contains only those, not an index of all runs of the namespace.

import { afterAll, beforeAll, expect, test } from 'vitest'
import type { RunFilter } from '../../../domain/model/run.ts'
import type { Query } from '../description/values.ts'
import { liveQueries, liveSeriesQuery } from '../rollups/live-queries.ts'
import { lastFailuresQuery } from '../rollups/newest-queries.ts'
import { trendQueries } from '../rollups/trend-queries.ts'
import { Connection } from '../sqlite/connection.ts'
import { migrate } from '../sqlite/migrations.ts'
import { lastAcceptedQuery } from './delivery-queries.ts'
import { errorGroupsOf } from './error-group-queries.ts'
import { limitQueries, singletonsQuery } from './runs/limit-queries.ts'
import { holdersQuery } from './runs/run-queries.ts'
import { countQueries } from './runs/run-stats-query.ts'
import { statusCountsQuery } from './runs/status-counts.ts'
import { workflowNamesQuery } from './runs/walks.ts'
import { scheduledPage, sortedSchedules } from './scheduled-page.ts'
import { relatedRunQueries } from './tree-queries.ts'

let connection: Connection
beforeAll(async () => {
  connection = await Connection.open(':memory:', { readOnly: false })
  migrate(connection)
})
afterAll(() => connection.close())

const planOf = ({ sql, params }: Query) =>
  connection
    .prepare(`EXPLAIN QUERY PLAN ${sql}`)
    .all(params)
    .map(row => String(row.at(-1)))
    .join('\n')

test('the holders of limits are found among the runs that hold a slot', () => {
  const [holders, slots, starts, ...ends] = limitQueries('default', { limit: 100, endedSince: 1 }).map(planOf)
  expect(holders).toContain('runs_holding_slot1')
  for (const plan of [slots, starts])
    expect(plan).toMatch(/runs_of_waiting_kind|runs_in_slot_queue|runs_in_throttle_queue/)
  for (const plan of ends) expect(plan).toContain('runs_ended (status=? AND finished_at>?)')
  expect(planOf(holdersQuery('default', 'slot', 10))).not.toContain('namespace=?')
})

test.each([{}, { app: 'shop' }, { workflow: 'order' }, { key: 'ada' }])(
  'live singletons of %o are found among these alone',
  query => {
    const plan = planOf(singletonsQuery('default', { ...query, limit: 100 }))
    expect(plan).toContain('runs_of_singletons (namespace=? AND finished_at=?)')
  },
)

test('a singleton of a workflow is found by its key', () => {
  const plan = planOf(singletonsQuery('default', { app: 'shop', workflow: 'order', key: 'ada', limit: 100 }))
  expect(plan).toContain('runs_singleton (namespace=? AND workflow=? AND app=? AND singleton_key=?)')
})

test.each([1, 9])('the relatives of %i runs and events are found by these', count => {
  const ids = (prefix: string) => Array.from({ length: count }, (_, i) => `${prefix}_${i}`)
  const queries = relatedRunQueries('default', { runIds: ids('run'), eventIds: ids('evt') }, 100)
  const [started, ...byColumn] = [queries[2] as (typeof queries)[0], ...queries.toSpliced(2, 1)]
  expect(byColumn.map(query => planOf(query).match(/runs_of_\w+/)?.[0])).toEqual([
    'runs_of_parent_run',
    'runs_of_source',
    'runs_of_event',
  ])
  // Started runs are found by the steps of their starters.
  expect(planOf(started)).toMatch(/SEARCH s USING .*run_id=\?.*SEARCH runs USING .*id=\?/s)
  // The relatives of a few are read in the order of the index, up to the limit.
  for (const query of byColumn) expect(/COVERING INDEX runs_of_\w+/.test(planOf(query))).toBe(count === 1)
})

test.each([{}, { app: 'shop' }, { workflow: 'order' }, { app: 'shop', workflow: 'order' }])(
  'live runs of %o are counted in indexes, without their rows',
  scope => {
    const [waiting, live, onFailure] = liveQueries('default', { since: 1, ...scope }).map(planOf)
    expect(waiting).toContain('COVERING INDEX runs_of_waiting_kind')
    expect(live).toContain('COVERING INDEX runs_of_status')
    expect(onFailure).toContain('COVERING INDEX runs_of_kind_live')
    const series = planOf(liveSeriesQuery('default', { step: '1h', since: 0, until: 7_200_000, ...scope }))
    expect(
      series.match(/COVERING INDEX runs_of_status \(namespace=\? AND status=\? AND id>\? AND id<\?\)/g),
    ).toHaveLength(4)
    expect(series.match(/runs_\w+/g)).toHaveLength(5)
    expect(series).toContain('COVERING INDEX runs_of_kind_live')
    const spans = { from: 0, spanMs: 3_600_000, count: 2, step: '1h' } as const
    const [trend, ...rollups] = trendQueries('default', { since: 1, ...scope }, spans).map(planOf)
    expect(trend).toContain('COVERING INDEX runs_of_status (namespace=? AND status=? AND id>? AND id<?)')
    expect(trend).toContain('COVERING INDEX runs_of_kind_live')
    for (const plan of rollups)
      expect(plan).toMatch(
        /SEARCH run_rollups .*\(span=\? AND namespace=\? AND app=\? AND workflow=\? AND at>\? AND at<\?\)/,
      )
  },
)

test.each([
  [{ eventId: 'e' }, 'runs_of_event (event_id=?)'],
  [{ replayOf: 'r' }, 'runs_of_source (replay_of=?)'],
  [{ parentRunId: 'p', waitingFor: 'sleep' }, 'runs_of_parent_run (parent_run_id=?)'],
  [{ ids: ['run_1'], status: ['failed'] }, 'sqlite_autoindex_runs_1 (id=?)'],
  [{ error: 'e' }, 'runs_of_error (namespace=? AND error_key=?)'],
  [{ runner: 'r' }, 'runs_of_runner (namespace=? AND runner=?)'],
  [{ waitingFor: 'sleep' }, 'COVERING INDEX runs_of_waiting_kind (namespace=? AND waiting_kind=?)'],
  [{ waitingFor: 'sleep', app: 'shop' }, 'COVERING INDEX runs_of_waiting_kind (namespace=? AND waiting_kind=?)'],
  [{ status: ['failed'], app: 'shop' }, 'COVERING INDEX runs_of_status (namespace=? AND status=?)'],
] as [RunFilter, string][])('runs of %o are counted by status along the index of the filter', (filter, index) => {
  expect(planOf(statusCountsQuery('default', filter))).toContain(index)
})

test('the last failures of handlers are found in indexes, without the rows', () => {
  const plan = planOf(lastFailuresQuery('default', { since: 1 }))
  expect(plan).toContain('COVERING INDEX runs_of_failures (namespace=? AND finished_at>?)')
  expect(plan).toContain('COVERING INDEX runs_of_kind_failed (namespace=? AND kind=? AND finished_at>?)')
})

test.each([
  ['run', 2],
  ['onFailure', 1],
  ['cleanup', 1],
  [undefined, 0],
] as const)('runs of kind %s are counted in indexes, without the rows', (kind, looks) => {
  for (const query of countQueries('default', { app: 'shop', since: 1, kind })) {
    const plan = planOf(query)
    expect(plan.match(/COVERING INDEX runs_of_status /g) ?? []).toHaveLength(looks === 1 ? 0 : 1)
    expect(plan.match(/COVERING INDEX runs_of_kind /g) ?? []).toHaveLength(looks)
  }
})

test('names of workflows are looked up, one for each', () => {
  const plan = planOf(workflowNamesQuery('default', 'sync-', 51))
  expect(plan.match(/SEARCH runs .*\(namespace=\? AND workflow>\? AND workflow<\?\)/g)).toHaveLength(2)
})

test('scheduled events that match a filter are read along the index of their terms', async () => {
  const plans: string[] = []
  const read = async (query: Query) => {
    plans.push(planOf(query))
    return []
  }
  for (const after of [undefined, { dueAt: 1, id: 'a' }])
    await scheduledPage(read, 'default', { terms: ['a:plan:pro', 'n:order'], after, limit: 5 })
  for (const plan of plans) expect(plan).toMatch(/SEARCH t USING .*\(namespace=\? AND term=\?/)
  expect(plans).toHaveLength(2)
})

test.each(['next', 'missed'] as const)('schedules sorted by %s are read along an index', async sort => {
  const plans: string[] = []
  const read = async (query: Query) => {
    plans.push(planOf(query))
    return []
  }
  for (const after of [undefined, { at: 1, id: 'a' }]) await sortedSchedules(read, 'default', { sort, after, limit: 5 })
  for (const plan of plans) {
    expect(plan).toContain(`flow_rows_${sort} (namespace=?`)
    expect(plan).not.toContain('TEMP B-TREE')
  }
})

test('the last accepted posts of receivers are looked up by their ids', () => {
  const plan = planOf(lastAcceptedQuery('default', ['whr_1', 'whr_2']))
  expect(plan).toMatch(
    /SEARCH webhook_receivers USING \S* ?(PRIMARY KEY|INDEX sqlite_autoindex_webhook_receivers_\d) \(id=\?\)/,
  )
})

test('the failures of groups, and their runners, are counted in an index, without the rows', async () => {
  const plans: string[] = []
  const read = async (query: Query) => {
    if (!query.sql.includes('AS newest')) return []
    plans.push(planOf(query))
    return plans.length === 1 ? [['fingerprint', 'shop', 'order', 1, 1, 1, '1 run_1']] : []
  }
  const trend = { spans: 2, spanMs: 1000 }
  await errorGroupsOf(read, 'default', { since: 1, limit: 10, trend, runners: 3 })
  expect(plans).toHaveLength(3)
  for (const plan of plans) expect(plan).toContain('COVERING INDEX runs_of_failures (namespace=? AND finished_at>?)')
})
