// PgBouncer between an engine and PostgreSQL (docs/poolers.md): an engine works in session mode and in its own schema, and at
// its start it refuses, in one line, a pooler with which it cannot work.

import { Client } from 'pg'
import { describe, expect, test } from 'vitest'
import { openClient } from '../../../packages/engine/src/adapters/sql/postgres/client.ts'
import { answerTo } from '../../../packages/engine/src/adapters/sql/postgres/lost-answer.ts'
import { findings } from '../../kit/engine/findings.ts'
import { flow, freshSchema, onCleanup, openEngine, run, serveToTheEnd, sleep, unique, until } from '../../kit/index.ts'
import { havePgbouncer, Pgbouncer } from '../../kit/servers/pgbouncer.ts'

const SHARED = /a pooler gives each transaction a different connection .*pool_mode = session/

describe.skipIf(!havePgbouncer())('PgBouncer', () => {
  test.each([
    ['with its defaults', {}],
    ['that drops the options of a start', { ignore_startup_parameters: 'options' }],
  ])('in session mode %s: two engines run workflows in the schema of their address', async (_, settings) => {
    const pooler = await Pgbouncer.start({ pool_mode: 'session', default_pool_size: 40, ...settings })
    const schema = await freshSchema()
    const storeFile = pooler.urlOf(schema)
    const [engine, other] = [await openEngine({ storeFile }), await openEngine({ storeFile })]
    const name = unique('pooled')
    await engine.runner({ workflows: { [name]: flow([run('one'), sleep('nap', 20), run('two')]) } })
    const { runId } = await other.api.send({ name })
    await engine.api.succeeded(runId)
    expect(await rowsIn(schema, 'SELECT count(*)::int AS n FROM runs')).toEqual([{ n: 1 }])
  })

  test('a session has its settings, whatever the pooler does with those of a start', async () => {
    const pooler = await Pgbouncer.start({ ignore_startup_parameters: 'options' })
    const schema = new URL(await freshSchema())
    schema.searchParams.set('options', `${schema.searchParams.get('options')} -c lock_timeout=7s --work-mem=5MB`)
    schema.searchParams.set('statement_timeout', '41000')
    const client = await openClient(pooler.urlOf(schema.href), () => {})
    onCleanup(() => client.end())
    const read = async (name: string) => (await client.query(`SHOW ${name}`)).rows[0][name]
    expect(await read('lock_timeout')).toBe('7s')
    expect(await read('work_mem')).toBe('5MB')
    expect(await read('statement_timeout')).toBe('41s')
    expect(await read('idle_in_transaction_session_timeout')).toBe('5s')
    // The pooler's session number differs from the server's. The server knows that the statement is still running.
    await expect(answerTo(client, schema.href, client.query('SELECT pg_sleep(3.3)'))).resolves.toBeDefined()
  })

  test.each([
    ['transaction', {}],
    ['transaction', { server_round_robin: 1, min_pool_size: 3 }],
    ['statement', {}],
  ])('in %s mode %j: the start ends with one line, and doctor says the same', async (mode, settings) => {
    const pooler = await Pgbouncer.start({ pool_mode: mode, ...settings })
    const storeFile = pooler.urlOf(await freshSchema())
    const exit = await serveToTheEnd({ storeFile })
    expect(exit).toMatchObject({ code: 2, stderr: expect.stringMatching(SHARED) })
    expect(exit.stderr.trim().split('\n')).toHaveLength(1)
    const found = await findings({ ENGINE_STORE: storeFile })
    expect(found.get('postgres.pooler')).toMatchObject({ verdict: 'error', message: expect.stringMatching(SHARED) })
  })

  test('with one connection for all: the start says how many an engine needs', async () => {
    const pooler = await Pgbouncer.start({ default_pool_size: 1 })
    const exit = await serveToTheEnd({ storeFile: pooler.urlOf(await freshSchema()) })
    expect(exit).toMatchObject({ code: 2, stderr: expect.stringMatching(/no second connection .*default_pool_size/) })
  })

  test('that changes to transaction mode under an engine: not ready, 503 for a post, and well again after it', async () => {
    const pooler = await Pgbouncer.start({ pool_mode: 'session' })
    const engine = await openEngine({ storeFile: pooler.urlOf(await freshSchema()) })
    const ready = async () => (await engine.api.get('/readyz')).status
    expect(await ready()).toBe(200)
    pooler.reload({ pool_mode: 'transaction', server_round_robin: 1 })
    await until(async () => (await ready()) === 503, { what: 'the engine not ready' })
    expect((await engine.api.post('/events', { name: unique('refused') })).status).toBe(503)
    pooler.reload({ pool_mode: 'session' })
    await until(async () => (await ready()) === 200, { what: 'the engine ready again' })
    expect((await engine.api.post('/events', { name: unique('taken') })).status).toBe(202)
    await engine.stop()
    expect(engine.takeErrors().some(line => SHARED.test(line))).toBe(true)
  })
})

test('doctor says that there is no pooler; several hosts are refused by name', async () => {
  const found = await findings({ ENGINE_STORE: await freshSchema() })
  expect(found.get('postgres.pooler')).toMatchObject({ verdict: 'ok', message: 'there is no pooler' })
  for (const hosts of ['a:5432,b:5432/db', 'ada@a,b/db', 'a/db?host=a,b']) {
    const { code, stderr } = await serveToTheEnd({ storeFile: `postgres://${hosts}` })
    expect(code).toBe(2)
    expect(stderr).toContain('ENGINE_STORE (--store) names several hosts')
  }
})

test('a schema that does not exist is named', async () => {
  const url = new URL(await freshSchema())
  url.searchParams.set('options', '-csearch_path=nowhere')
  const { code, stderr } = await serveToTheEnd({ storeFile: url.href })
  expect(code).toBe(2)
  expect(stderr).toContain('there is no schema "nowhere"')
})

async function rowsIn(url: string, sql: string): Promise<object[]> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query(sql)).rows
  } finally {
    await client.end()
  }
}
