// The list of runs walks an index for every filter that claims to have one, and reads no rows for filters that claim to need
// none.

import { afterAll, beforeAll, expect, test } from 'vitest'
import type { RunFilter, RunStatus } from '../../../../domain/model/run.ts'
import type { RunQuery } from '../../../../ports/store-reads.ts'
import { Connection } from '../../sqlite/connection.ts'
import { migrate } from '../../sqlite/migrations.ts'
import { filterTerms } from './run-filter.ts'
import { Slices } from './slices.ts'
import { FILTERS_BY_ID, listedOf, SORT_COLUMN, type Walk, walkByKey, walksById } from './walks.ts'

let connection: Connection
beforeAll(async () => {
  connection = await Connection.open(':memory:', { readOnly: false })
  migrate(connection)
})
afterAll(() => connection.close())

type Filter = Omit<RunQuery, 'limit'>

const walksOf = (filter: Filter) => walksById(listedOf('default', { ...filter, limit: 10 }))
const slicesOf = (...walks: [Walk, ...Walk[]]) => new Slices({ walks, after: undefined, isDeep: false })

/** The steps of the plans that SQLite makes for the first read along the walk. */
function plansOf(walk: Walk, selection?: string): string[] {
  return slicesOf(walk)
    .queries(10, selection)
    .flatMap(({ sql, params }) => connection.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(params))
    .map(row => String(row.at(-1)))
}

test.each(FILTERS_BY_ID)('the filter %s has an index in the order of ids', name => {
  const isList = name === 'status' || name === 'ids' || name === 'attribute' || name === 'workflows'
  const filter = { [name]: isList ? ['failed'] : 'failed' }
  const column = name === 'attribute' ? name : filterTerms(filter).get(name)?.columns[0]
  const plan = plansOf(walksOf(filter)[0])
  const walk = plan.find(step => step.includes(`${column}=?`))
  expect(walk, JSON.stringify(plan)).toMatch(/SEARCH (runs|run_attributes) USING .*(INDEX|PRIMARY KEY)/)
})

/** Filters whose indexes have the columns of the others. */
const COVERED: RunFilter[] = [
  { app: 'shop' },
  { workflow: 'order' },
  { workflows: ['order'] },
  { runType: 'cron' },
  { attribute: ['plan:pro'] },
  { error: 'f' },
  { waitingFor: 'event' },
  { status: ['failed'] },
]

/** A walk reads the rows of the runs that it finds, and no others. */
const rowsRead = (plan: readonly string[]) =>
  plan.filter(step => /(SEARCH|SCAN) (runs|run_attributes) /.test(step) && !/COVERING|PRIMARY KEY|\(id=\?\)/.test(step))

const PAIRS = COVERED.flatMap((first, i) => COVERED.slice(i + 1).map(second => ({ ...first, ...second }))).filter(
  filter => !('error' in filter && 'waitingFor' in filter),
)

test.each(PAIRS)('a walk that says it is covered reads no rows on its way: %j', filter => {
  for (const walk of walksOf(filter)) {
    if (walk.isCovered) expect(rowsRead(plansOf(walk, 'id'))).toEqual([])
  }
})

test.each<RunFilter>([{ status: ['failed'] }, { app: 'shop' }, { runType: 'cron' }, { attribute: ['plan:pro'] }])(
  'the runs of a parent are compared with %j along the index of the parent',
  filter => {
    const [walk] = walksOf({ parentRunId: 'run_p', ...filter })
    const plan = plansOf(walk, 'id')
    const reads = plan.filter(step => /SEARCH runs .*(parent_run_id|namespace)/.test(step))
    expect(reads.length, JSON.stringify(plan)).toBeGreaterThan(1)
    for (const read of reads) expect(read).toContain('runs_of_parent_run (parent_run_id=?')
  },
)

test.each<RunFilter>([{ status: ['succeeded'] }, { app: 'shop', workflow: 'order' }, { runType: 'event' }])(
  'the order by duration passes runs that %j leaves out without their rows',
  filter => {
    const walk = walkByKey(listedOf('default', { ...filter, limit: 10 }), 'duration')
    expect(walk.isCovered).toBe(true)
    expect(rowsRead(plansOf(walk, 'id'))).toEqual([])
  },
)

test('of two filters at least one has a covered walk', () => {
  const uncovered = PAIRS.filter(filter => !walksOf(filter).some(walk => walk.isCovered))
  expect(uncovered).toEqual([])
})

test.each(Object.keys(SORT_COLUMN) as (keyof typeof SORT_COLUMN)[])('the order by %s is that of an index', sort => {
  const walk = walkByKey(listedOf('default', { attribute: ['plan:pro'], limit: 10 }), sort)
  expect(walk.isCovered).toBe(true)
  const plan = plansOf(walk, 'id')
  expect(rowsRead(plan)).toEqual([])
  expect(plan.find(step => step.includes('namespace=?'))).toContain('USING COVERING INDEX')
})

test('the merged walks of several statuses are each read no further than the page', () => {
  const pageOf = (status: RunStatus[]) => slicesOf(...walksOf({ status })).queries(10)[0]
  expect(pageOf(['failed'])?.params.filter(param => param === 10)).toHaveLength(2)
  expect(pageOf(['failed', 'cancelled'])?.params.filter(param => param === 10)).toHaveLength(4)
})
