// The connection to PostgreSQL is cut at chosen moments. A caller's answer is true in every case. Readiness follows
// the servers that an engine needs (docs/operating.md#probes).

import { describe, expect, test } from 'vitest'
import { openPostgresStore } from '../../packages/engine/src/adapters/sql/postgres/store.ts'
import { freshSchema, onCleanup, openEngine, POSTGRES_URL, REDIS_URL, unique, until } from '../kit/index.ts'
import { claimOf, isClaimed } from '../kit/servers/once.ts'
import { TcpProxy } from '../kit/servers/tcp-proxy.ts'

const schema = await freshSchema()
const proxy = await TcpProxy.open(POSTGRES_URL, 5432)
const store = await openPostgresStore({ url: proxy.urlOf(schema) })
onCleanup(() => store.close())

const isThere = (dedupeId: string) => isClaimed(store, dedupeId)

describe('a commit', () => {
  test('that never arrived is sent again, once', async () => {
    await store.commit(claimOf('first'))
    proxy.cutAt('before', 'before')
    await store.commit(claimOf('before'))
    expect(proxy.cuts).toBe(1)
    expect(await isThere('before')).toBe(true)
  })

  test('whose answer was lost is in the database once', async () => {
    proxy.cutAt('answered', 'answer')
    await store.commit(claimOf('answered'))
    expect(proxy.cuts).toBe(2)
    expect(await isThere('answered')).toBe(true)
  })

  test('that was refused is reported as refused even when that answer was lost', async () => {
    proxy.cutAt('answered', 'answer')
    await expect(store.commit(claimOf('answered'))).rejects.toMatchObject({ name: 'StaleError' })
    expect(proxy.cuts).toBe(3)
  })

  test('fails as unavailable while the database is away, and works when it is back', async () => {
    proxy.down()
    await expect(store.commit(claimOf('away'))).rejects.toMatchObject({ code: 'unavailable' })
    await expect(isThere('away')).rejects.toMatchObject({ code: 'unavailable' })
    proxy.up()
    await until(() => store.commit(claimOf(unique('back'))).then(() => true), { deadlineMs: 10_000 })
    expect(await isThere('away')).toBe(false)
  })
})

test('readiness falls within 5 s of a loss and is back within 10 s of the return; the engine goes on', async () => {
  const postgres = await TcpProxy.open(POSTGRES_URL, 5432)
  const redis = await TcpProxy.open(REDIS_URL, 6379)
  const redisUrl = redis.urlOf(REDIS_URL)
  const env = { ENGINE_QUEUE: redisUrl, ENGINE_LIMITER: redisUrl }
  const engine = await openEngine({ storeFile: postgres.urlOf(await freshSchema()), env })
  const { api } = engine
  const ready = async () => (await api.get('/readyz')).json as { checks: Record<string, string>; status: string }
  const fine = { store: 'ok', queue: 'ok', limiter: 'ok' }
  expect((await ready()).checks).toEqual(fine)

  for (const [lost, checks] of [
    [postgres, { ...fine, store: 'unavailable' }],
    [redis, { ...fine, queue: 'unavailable', limiter: 'unavailable' }],
  ] as const) {
    lost.down()
    const whenLost = async () => {
      const now = await ready()
      return now.status === 'not_ready' && JSON.stringify(now.checks) === JSON.stringify(checks)
    }
    await until(whenLost, { what: JSON.stringify(checks), deadlineMs: 5000 })
    lost.up()
    await until(async () => (await ready()).status === 'ready', { what: 'readiness', deadlineMs: 10_000 })
  }
  expect((await api.post('/events', { name: unique('again') })).status).toBe(202)
  expect(engine.takeErrors().length).toBeGreaterThan(0)
})
