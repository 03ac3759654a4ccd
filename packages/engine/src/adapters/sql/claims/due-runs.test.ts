// The rows that a claim of runs looks at: an index answers every query, and due runs without room are not looked at one by one.

import { expect, onTestFinished, test } from 'vitest'
import { appKey } from '../../../domain/model/run.ts'
import { NOW, run } from '../../../domain/testkit/nouns.testkit.ts'
import type { RunClaim } from '../../../ports/store.ts'
import type { Query, Value } from '../description/values.ts'
import { Connection } from '../sqlite/connection.ts'
import { migrate } from '../sqlite/migrations.ts'
import { untyped } from '../sqlite/statements.ts'
import { RUNS } from '../tables/runs.ts'
import { OPERATIONS } from '../write/statements.ts'
import { dueRuns } from './due-runs.ts'
import { RunShare } from './run-share.ts'

async function open() {
  const connection = await Connection.open(':memory:', { readOnly: false })
  onTestFinished(() => connection.close())
  migrate(connection)
  const insert = connection.prepare(untyped(OPERATIONS['run.insert']))
  let count = 0
  const add = (fields: Partial<Parameters<typeof run>[0]> = {}) => {
    const row: Value[] = []
    RUNS.append(
      row,
      run({ id: `run_${++count}`, status: 'queued', leaseOwner: undefined, availableAt: NOW, ...fields }),
    )
    insert.run(row)
  }
  /** The queries of a claim with the number of their rows, and the namespaces of the runs that it takes. */
  const claim = (fields: Partial<RunClaim> = {}) => {
    const claim = { owner: 'us', now: NOW, leaseUntil: NOW + 1, limit: 100, ...fields }
    const work = dueRuns('rowid', claim, new RunShare(claim))
    const queries: (Query & { rows: number })[] = []
    let step = work.next()
    while (!step.done) {
      const rows = connection.prepare(untyped(step.value.sql)).all(step.value.params)
      queries.push({ ...step.value, rows: rows.length })
      step = work.next(rows)
    }
    const rows = queries.reduce((sum, query) => sum + query.rows, 0)
    return { queries, rows, taken: step.value.map(({ namespace }) => namespace) }
  }
  return { connection, add, claim }
}

const FULL = { appRoom: new Map([[appKey({ namespace: 'full', app: 'app' }), 0]]) }

test('however many runs wait for a full app, a claim looks at the same number of rows', async () => {
  const { add, claim } = await open()
  const addFull = (count: number) => {
    for (let i = 0; i < count; i++)
      add({ namespace: 'full', app: 'app', availableAt: NOW - 5000, priority: (i % 3) + 1 })
  }
  addFull(150)
  add({ namespace: 'free', app: 'app' })
  const before = claim(FULL)
  expect(before.taken).toEqual(['free'])
  addFull(1500)
  const after = claim(FULL)
  expect(after.taken).toEqual(['free'])
  expect([after.queries.length, after.rows]).toEqual([before.queries.length, before.rows])
})

test('a claim of everybody takes turns, with a bound on what it looks at', async () => {
  const { add, claim } = await open()
  for (let i = 0; i < 2000; i++) add({ namespace: 'many', app: 'app', availableAt: NOW - 5000 })
  for (let i = 0; i < 30; i++) add({ namespace: 'few', app: 'app' })
  const { taken, rows } = claim()
  expect(taken.slice(0, 60).filter(namespace => namespace === 'few')).toHaveLength(30)
  expect(taken).toHaveLength(100)
  expect(rows).toBeLessThan(800)
})

test('runs that are due at the same time are taken in the order of their creation, whatever the order of the index', () => {
  const due = (key: string) => ({
    key,
    namespace: 'ns',
    app: 'app',
    destination: 'd',
    priority: 0,
    availableAt: NOW,
    logPosition: 0,
  })
  const share = new RunShare({ owner: 'us', now: NOW, leaseUntil: NOW + 1, limit: 100 })
  const taken = share.pick([due('run_2'), due('run_3'), due('run_1')], 3)
  expect(taken.map(({ key }) => key)).toEqual(['run_1', 'run_2', 'run_3'])
})

test('an index answers every query of a claim, without a sort', async () => {
  const { connection, add, claim } = await open()
  for (let i = 0; i < 900; i++)
    add({ namespace: `ns ${i % 3}`, app: 'app', priority: i % 2 === 0 ? (i % 10) - 5 : undefined })
  const { queries } = claim({ limit: 100 })
  const plans = [...new Set(queries.map(({ sql }) => sql))].map(sql => {
    const { params } = queries.find(query => query.sql === sql) as Query
    const steps = connection.prepare(untyped(`EXPLAIN QUERY PLAN ${sql}`)).all(params)
    return { sql, steps: steps.map(row => String(row.at(-1))) }
  })
  expect(plans.length).toBeGreaterThan(5)
  for (const { sql, steps } of plans) {
    const onRuns = steps.filter(step => / runs\b/.test(step))
    expect(onRuns.length, sql).toBeGreaterThan(0)
    for (const step of onRuns) expect(step, sql).toMatch(/USING (COVERING )?INDEX runs_/)
    // The few destinations and priorities are sorted, runs are not.
    if (!sql.startsWith('WITH')) expect(steps.join('\n'), sql).not.toContain('TEMP B-TREE')
  }
})
