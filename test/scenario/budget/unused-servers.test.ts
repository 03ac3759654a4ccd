// A run pays nothing for features that it does not use: none of its statements reads or writes their tables. PostgreSQL counts
// the scans and the rows of each table.

import pg from 'pg'
import { expect, test } from 'vitest'
import { flow, freshSchema, onCleanup, openEngine, openRunner, run, unique, until } from '../../kit/index.ts'

const FEATURES = [
  'budgets',
  'callbacks',
  'cleanup',
  'continue-as',
  'end-with-steps',
  'signals',
  'start-run',
  'wait-for-run',
]

/** More runs than the number of times that the engine's timers read any table meanwhile. */
const RUNS = 200

test('runs of two steps touch no table of budgets, waits, turns or early callbacks', async () => {
  const storeFile = await freshSchema()
  const { api } = await openEngine({ storeFile })
  const client = new pg.Client({ connectionString: storeFile })
  await client.connect()
  onCleanup(() => client.end())
  const used = async () => {
    const { rows } = await client.query<{ name: string; touched: string }>(
      `SELECT relname AS name, coalesce(seq_scan, 0) + coalesce(idx_scan, 0) + n_tup_ins + n_tup_upd + n_tup_del AS touched
       FROM pg_stat_user_tables WHERE schemaname = current_schema()`,
    )
    return new Map(rows.map(({ name, touched }) => [name, Number(touched)]))
  }
  const [plain, budgeted] = [unique('plain'), unique('budgeted')]
  const handler = flow([run('a'), run('b')])
  const runner = await openRunner({
    workflows: { [plain]: { handler }, [budgeted]: { handler, registration: { budget: { steps: 100 } } } },
  })
  await runner.register(api, { features: FEATURES })
  const drive = async (name: string) => {
    const before = await used()
    const ids = await Promise.all(Array.from({ length: RUNS }, async () => (await api.send({ name })).runId))
    for (const id of ids) await api.reaches(id, 'succeeded')
    // A connection of the engine reports its counts within a second.
    const touchedNow = async () => new Map([...(await used())].map(([of, now]) => [of, now - (before.get(of) ?? 0)]))
    await until(async () => ((await touchedNow()).get('steps') ?? 0) >= 2 * RUNS, { what: 'the counts' })
    return touchedNow()
  }
  const touched = await drive(plain)
  for (const table of ['budgets', 'fair_turns', 'bulk_results'])
    expect({ table, touched: touched.get(table) }).toEqual({ table, touched: expect.toSatisfy(n => n < RUNS / 10) })
  expect((await drive(budgeted)).get('budgets')).toBeGreaterThanOrEqual(RUNS)
})
