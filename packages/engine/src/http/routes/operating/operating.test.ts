import { describe, expect, test } from 'vitest'
import {
  apiKey,
  blockCommits,
  eventually,
  JSON_TYPE,
  listen,
  refusal,
  testApp,
} from '../../../../../../test/kit/http/test-app.ts'

describe('the probes', () => {
  test('a failing store makes the engine not ready, and only the log has the reason', async () => {
    const { app, store, logged } = await testApp({ logLevel: 'error' })
    const ready = await app.inject('/readyz')
    expect([ready.statusCode, ready.json()]).toEqual([200, { status: 'ready', checks: { store: 'ok' } }])
    await store.close()
    const response = await app.inject('/readyz')
    const body = { status: 'not_ready', checks: { store: 'unavailable' } }
    expect([response.statusCode, response.json()]).toEqual([503, body])
    expect(logged).toMatchObject([{ dependency: 'store', err: { stack: expect.any(String) } }])
    const health = await app.inject('/healthz')
    expect([health.statusCode, health.json()]).toEqual([200, { status: 'ok' }])
  })

  test('while the app closes it is healthy, but not ready', async () => {
    const { app, store, timers } = await testApp()
    const url = `http://127.0.0.1:${await listen(app)}`
    const blocked = blockCommits(store)
    const inFlight = fetch(`${url}/events`, { method: 'POST', headers: JSON_TYPE, body: '{"name":"n"}' })
    await eventually(() => blocked.length === 1)
    const closed = app.close()
    await eventually(() => timers() === 1)
    const ready = await fetch(`${url}/readyz`)
    expect([ready.status, await ready.json()]).toEqual([
      503,
      { status: 'not_ready', checks: { store: 'ok' }, draining: true },
    ])
    expect((await fetch(`${url}/healthz`)).status).toBe(200)
    blocked[0]?.()
    expect((await inFlight).status).toBe(202)
    await closed
  })
})

describe('the metrics', () => {
  test('are text for a key that reads', async () => {
    const apiKeys = [apiKey('reader', { kind: 'read' }), apiKey('sender', { kind: 'event' })]
    const { app } = await testApp({ config: { apiKeys } })
    const get = (key?: string) =>
      app.inject({ url: '/metrics', headers: key ? { authorization: `Bearer ${key}` } : {} })
    const response = await get('reader')
    expect([response.statusCode, response.body.startsWith('# HELP')]).toEqual([200, true])
    expect(response.headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8')
    expect(refusal(await get())).toBe('401 unauthorized')
    expect(refusal(await get('sender'))).toBe('403 forbidden')
  })

  test('have no line in the access log, whatever its level, and the probes have none', async () => {
    const { app, logged } = await testApp({ logLevel: 'trace' })
    for (const url of ['/metrics', '/healthz', '/readyz']) expect((await app.inject(url)).statusCode).toBe(200)
    expect(logged).toEqual([])
    await app.inject('/apps')
    expect(logged).toMatchObject([{ route: '/apps' }])
  })
})
