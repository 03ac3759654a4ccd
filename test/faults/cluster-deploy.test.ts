// Engines of two versions on one database, and engines that leave. The other engines take the runs that an engine releases at
// once; an engine that leaves without releasing its runs is no worse than a killed one.

import { Client } from 'pg'
import { describe, expect, test } from 'vitest'
import { MIGRATIONS, NEEDS_VERSION } from '../../packages/engine/src/adapters/sql/postgres/migrations.ts'
import { openPostgresStore, type PostgresStore } from '../../packages/engine/src/adapters/sql/postgres/store.ts'
import { LOCKS } from '../../packages/engine/src/adapters/sql/postgres/write-function.ts'
import {
  flow,
  freshSchema,
  gate,
  type OpenEngine,
  onCleanup,
  openEngine,
  POSTGRES_URL,
  run,
  startEngine,
  unique,
  until,
  within,
} from '../kit/index.ts'
import { claimOf, isClaimed } from '../kit/servers/once.ts'
import { TcpProxy } from '../kit/servers/tcp-proxy.ts'

const STARTS = 10
/** A migration of the next version that only adds. */
const NEXT = `ALTER TABLE runs ADD COLUMN planted text; ALTER TABLE steps ADD COLUMN planted bigint NOT NULL DEFAULT 7;
  CREATE TABLE planted (id bigint PRIMARY KEY)`

/** Opens an engine of the next version. */
async function openNext(storeFile: string): Promise<OpenEngine> {
  const steps = MIGRATIONS as string[]
  steps.push(NEXT)
  try {
    return await openEngine({ storeFile })
  } finally {
    steps.pop()
  }
}

/** A workflow whose second step hangs. Once the test has released it, the next attempt succeeds. */
function hanging() {
  const name = unique('work')
  const state = { hangs: true }
  const second = run('second', () => (state.hangs ? gate().opened : 'done'))
  const goOn = () => {
    state.hangs = false
  }
  const workflows = { [name]: flow([run('first'), second, run('third')]) }
  return { name, workflows, goOn }
}

async function sql(url: string, text: string): Promise<unknown[]> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query(text)).rows
  } finally {
    await client.end()
  }
}

// These tests wait seconds for bounds to pass, so they run at the same time.
describe.concurrent('engines that come and go', () => {
  test('of the previous version, under load: work on beside the new, which take their runs at the deadline of the drain', async () => {
    const url = await freshSchema()
    const before = await startEngine({ storeFile: url, env: { ENGINE_DRAIN_TIMEOUT: '1s' } })
    const { name, workflows, goOn } = hanging()
    const quick = unique('quick')
    const runner = await before.runner({ workflows: { ...workflows, [quick]: flow([run('a'), run('b')]) } })
    const sent: string[] = []
    let isLoaded = true
    let leaves = false
    let after: OpenEngine | undefined
    const load = (async () => {
      while (isLoaded) sent.push((await (leaves && after ? after : before).api.send({ name: quick })).runId)
    })()
    // If an expectation below fails, vitest reports that failure.
    load.catch(() => {})
    await until(() => sent.length > 5)
    after = await openNext(url)
    const { api } = after
    expect(await sql(url, 'SELECT version::int, needs::int FROM migrations ORDER BY version')).toEqual(
      Array.from({ length: MIGRATIONS.length + 1 }, (_, i) => ({ version: i + 1, needs: NEEDS_VERSION })),
    )
    const some = sent.length
    await until(() => sent.length > some + 5, { what: 'events at the engine of the previous version' })
    const { runId } = await before.api.send({ name })
    await until(() => runner.record.times(runId, 'second') === 1)
    leaves = true
    goOn()
    const askedAt = performance.now()
    expect(await before.sigterm()).toMatchObject({ code: 0 })
    const leftAt = performance.now()
    expect(leftAt - askedAt).toBeGreaterThan(1000)
    expect(leftAt - askedAt).toBeLessThan(8000)
    await until(() => runner.record.times(runId, 'second') === 2, {
      what: 'the run elsewhere',
      // Far less than the 15 s after which a dead engine's lease expires.
      deadlineMs: 8000,
    })
    isLoaded = false
    await load
    for (const id of [runId, ...sent]) expect(await api.succeeded(id)).toMatchObject({ attempt: 1 })
    expect(runner.record.names(runId)).toEqual(['first', 'second', 'second', 'third'])
  })

  test('end at once at a second signal; their runs are taken over as after a crash', async () => {
    const url = await freshSchema()
    const env = { ENGINE_DRAIN_TIMEOUT: '60s' }
    const [leaving, staying] = [await startEngine({ storeFile: url, env }), await openEngine({ storeFile: url })]
    const { name, workflows, goOn } = hanging()
    const { record } = await leaving.runner({ workflows })
    const { runId } = await leaving.api.send({ name })
    await until(() => record.times(runId, 'second') === 1)
    const exit = leaving.exit
    leaving.signal('SIGTERM')
    await until(async () => (await leaving.api.get('/readyz')).status === 503)
    goOn()
    leaving.signal('SIGTERM')
    expect(await within(exit, 'the exit', 3000)).toMatchObject({ code: 1 })
    expect((await staying.api.run(runId)).status).toBe('running')
    await staying.api.reaches(runId, 'succeeded', 30_000)
    expect(record.names(runId)).toEqual(['first', 'second', 'second', 'third'])
  })

  test('stop while the network swallows everything, and lose nothing', async () => {
    const url = await freshSchema()
    const proxy = await TcpProxy.open(POSTGRES_URL, 5432)
    const env = { ENGINE_DRAIN_TIMEOUT: '1s' }
    const leaving = await startEngine({ storeFile: proxy.urlOf(url), env })
    const { name, workflows, goOn } = hanging()
    const { record } = await leaving.runner({ workflows })
    const { runId } = await leaving.api.send({ name })
    await until(() => record.times(runId, 'second') === 1)
    proxy.swallow()
    goOn()
    expect(await within(leaving.sigterm(), 'the exit', 45_000)).toMatchObject({ code: 0 })
    const staying = await openEngine({ storeFile: url })
    await staying.api.reaches(runId, 'succeeded', 30_000)
    expect(record.names(runId)).toEqual(['first', 'second', 'second', 'third'])
  })

  test('that start wait for a slow migration instead of giving up', async () => {
    const url = await freshSchema()
    const migrating = new Client({ connectionString: url })
    await migrating.connect()
    onCleanup(() => migrating.end())
    await migrating.query(`SELECT pg_advisory_lock(${LOCKS.migrate}, hashtext(current_schema()))`)
    const opened = openEngine({ storeFile: url })
    const waited = `SELECT 1 FROM pg_stat_activity WHERE wait_event = 'advisory' AND query LIKE '%${LOCKS.migrate}%'
      AND application_name = current_setting('application_name') AND clock_timestamp() - query_start > interval '21 s'`
    await until(async () => (await sql(url, waited)).length > 0, { what: 'a long wait', deadlineMs: 40_000 })
    await migrating.query(`SELECT pg_advisory_unlock(${LOCKS.migrate}, hashtext(current_schema()))`)
    expect((await (await opened).api.get('/readyz')).status).toBe(200)
  })
})

describe('engines that start', () => {
  test('many at once on an empty schema all start, and create it once', async () => {
    const url = await freshSchema()
    const stores = await Promise.all(Array.from({ length: STARTS }, () => openPostgresStore({ url })))
    expect(await sql(url, 'SELECT version::int FROM migrations')).toEqual(
      MIGRATIONS.map((_, i) => ({ version: i + 1 })),
    )
    await Promise.all(stores.map((store, i) => store.commit(claimOf(`of ${i}`))))
    for (let i = 0; i < STARTS; i++) expect(await isClaimed(stores[0] as PostgresStore, `of ${i}`)).toBe(true)
    // Sessions are the server's scarcest resource, so none is kept until the end of the file.
    await Promise.all(stores.map(store => store.close()))
  })

  test('on a newer schema work if it only adds, and refuse it in one line if it does not', async () => {
    const url = await freshSchema()
    await (await openNext(url)).stop()
    const engine = await openEngine({ storeFile: url })
    const name = unique('work')
    await engine.runner({ workflows: { [name]: flow([run('a')]) } })
    await engine.api.succeeded((await engine.api.send({ name })).runId)
    await sql(
      url,
      `INSERT INTO migrations (version, needs) VALUES (${MIGRATIONS.length + 2}, ${MIGRATIONS.length + 2})`,
    )
    await expect(openEngine({ storeFile: url })).rejects.toThrow(
      /needs an engine that supports version \d+;.*use a newer engine$/,
    )
    // A running engine continues.
    await engine.api.succeeded((await engine.api.send({ name })).runId)
  })
})
