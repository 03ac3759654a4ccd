// Connections between an engine and its Redis or PostgreSQL that die silently: the engine replaces them, and is ready and at
// work within 10 s, while the server answers new connections all the time. Its streams of a namespace name the gap.

import { describe, expect, test } from 'vitest'
import {
  type Api,
  flow,
  freshSchema,
  type OpenEngine,
  onCleanup,
  openEngine,
  POSTGRES_URL,
  REDIS_URL,
  run,
  unique,
  until,
} from '../../kit/index.ts'
import { type Direction, DroppingProxy } from '../../kit/servers/dropping-proxy.ts'
import { deleteKeysOf } from '../../kit/servers/redis.ts'

const RECOVERY_MS_MAX = 10_000
const STREAMS = ['/runs/stream', '/events/stream', '/stream?topics=runs']

/** Opens the streams of the namespace. The returned promise resolves once each of them has had a `gap` frame. */
async function gapsOf(api: Api): Promise<() => Promise<unknown>> {
  const isGap = ({ event }: { event?: string }) => event === 'gap'
  const streams = await Promise.all(
    STREAMS.map(path => api.follow(path, { stopWhen: messages => messages.some(isGap) })),
  )
  return () => Promise.all(streams.map(async ({ over }) => expect((await over).messages.some(isGap)).toBe(true)))
}

/** Ends their sessions before the next test, because the server has only a hundred for all tests. Errors were expected. */
async function stopAll(...engines: OpenEngine[]): Promise<void> {
  await Promise.all(engines.map(({ stop }) => stop()))
  for (const { takeErrors } of engines) takeErrors()
}

describe.each<Direction>(['requests', 'answers'])('an engine whose connections drop %s', dropped => {
  test('is ready again, takes posts and hears the other engine', async () => {
    const storeFile = await freshSchema()
    const proxy = await DroppingProxy.open(REDIS_URL)
    const through = proxy.urlOf(REDIS_URL)
    const engine = await openEngine({ storeFile, env: { ENGINE_QUEUE: through, ENGINE_LIMITER: through } })
    const other = await openEngine({ storeFile, env: { ENGINE_QUEUE: REDIS_URL, ENGINE_LIMITER: REDIS_URL } })
    onCleanup(() => deleteKeysOf(storeFile))
    const name = unique('limited')
    const registration = { rateLimit: { limit: 1000, period: '1h' } }
    await engine.runner({ workflows: { [name]: { handler: flow([run('only')]), registration } } })
    const status = async () => (await engine.api.post('/events', { name })).status
    expect(await status()).toBe(202)

    const gaps = await gapsOf(engine.api)
    proxy.drop(dropped)
    const begunAt = performance.now()
    await until(async () => (await engine.api.get('/readyz')).status === 200 && (await status()) === 202, {
      what: 'the engine at work',
    })
    // No later post uses a dead connection.
    for (let i = 0; i < 10; i++) expect(await status()).toBe(202)
    await until(() => proxy.replaced >= 3, { what: 'the subscriber too on a new connection' })
    await gaps()
    expect(performance.now() - begunAt).toBeLessThan(RECOVERY_MS_MAX)
    const { runId } = await other.api.send({ name })
    await engine.api.succeeded(runId)
    await stopAll(engine, other)
  })
})

test('an engine whose sessions on PostgreSQL drop names the gap in its streams, and hears the other engine again', async () => {
  const storeFile = await freshSchema()
  const proxy = await DroppingProxy.open(POSTGRES_URL)
  const engine = await openEngine({ storeFile: proxy.urlOf(storeFile) })
  const other = await openEngine({ storeFile })
  const gaps = await gapsOf(engine.api)
  proxy.drop('both')
  await gaps()
  const name = unique('heard')
  await until(async () => (await engine.api.post('/events', { name })).status === 202, { what: 'the engine at work' })
  const { over } = await engine.api.follow('/events/stream', { stopWhen: messages => messages.length > 0 })
  await other.api.send({ name })
  expect((await over).messages[0]?.data).toMatchObject({ name })
  await stopAll(engine, other)
})
