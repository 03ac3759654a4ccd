// `perdure doctor` on PostgreSQL and Redis.

import { Client } from 'pg'
import { expect, test } from 'vitest'
import { findings, verdictOf } from '../../kit/engine/findings.ts'
import { freshSchema, REDIS_URL, tempStoreFile } from '../../kit/index.ts'

test('PostgreSQL: its settings are examined, and synchronous_commit off is an error', async () => {
  const url = await freshSchema()
  const found = await findings({ ENGINE_STORE: url })
  for (const check of ['store', 'postgres.version', 'postgres.synchronous_commit', 'postgres.clock'])
    expect(verdictOf(found, check), check).toBe('ok')
  const client = new Client({ connectionString: url })
  await client.connect()
  const [server] = (await client.query('SHOW autovacuum')).rows
  await client.end()
  expect(verdictOf(found, 'postgres.autovacuum')).toBe(server.autovacuum === 'on' ? 'ok' : 'warning')
  const careless = new URL(url)
  const options = careless.searchParams.get('options')
  careless.searchParams.set('options', `${options} -c synchronous_commit=off`)
  expect(verdictOf(await findings({ ENGINE_STORE: careless.href }), 'postgres.synchronous_commit')).toBe('error')
  const away = await findings({ ENGINE_STORE: 'postgres://ada:hidden-word@127.0.0.1:1/none' })
  expect(away.get('store')).toMatchObject({
    verdict: 'error',
    message: expect.stringContaining('cannot be reached'),
  })
  expect(JSON.stringify([...away.values()])).not.toContain('hidden-word')
})

test('Redis: reachable or not, for the queue and for the limiter', async () => {
  const there = await findings({ ENGINE_STORE: `sqlite:${tempStoreFile()}`, ENGINE_LIMITER: REDIS_URL })
  expect(verdictOf(there, 'limiter')).toBe('ok')
  const away = await findings({
    ENGINE_STORE: `sqlite:${tempStoreFile()}`,
    ENGINE_QUEUE: 'redis://:hidden-word@127.0.0.1:1',
  })
  expect(verdictOf(away, 'queue')).toBe('error')
  expect(JSON.stringify([...away.values()])).not.toContain('hidden-word')
})
