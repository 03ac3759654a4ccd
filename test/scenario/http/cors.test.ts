// Web pages of other origins: ENGINE_CORS_ORIGINS (docs/operating.md#settings).

import type { SendEventReply } from '@perdure/protocol'
import { describe, expect, test } from 'vitest'
import { openEngine, openRunner, returned, scenario } from '../../kit/index.ts'

const PAGE = 'https://console.example.com'
const KEY = 'a-secret-key-of-the-console'
const keys = JSON.stringify([{ label: 'console', namespace: 'default', kind: 'secret', key: KEY }])
const { engine } = await scenario({
  realTime: true,
  env: { ENGINE_CORS_ORIGINS: `https://other.example, ${PAGE}`, ENGINE_API_KEYS: keys },
})
const closed = await openEngine()

/** The preflight of a browser for a request with a key. */
const preflight = (origin: string) => ({
  headers: {
    origin,
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'authorization,content-type',
  },
})

describe('ENGINE_CORS_ORIGINS', () => {
  test('a page of a listed origin sends a preflight without a key, then calls with one and pages through a list', async () => {
    const allowed = await engine.api.request('OPTIONS', '/events', preflight(PAGE))
    expect([allowed.status, allowed.text]).toEqual([204, ''])
    expect(allowed.headers.get('access-control-allow-origin')).toBe(PAGE)
    expect(allowed.headers.get('access-control-allow-methods')).toContain('POST')
    expect(allowed.headers.get('access-control-allow-headers')).toMatch(/Authorization.*Content-Type/)

    const page = engine.api.as(KEY)
    for (let i = 0; i < 2; i++) await page.send({ name: 'order/placed' })
    const answer = await page.request('GET', '/events?limit=1', { headers: { origin: PAGE } })
    expect(answer.status).toBe(200)
    expect(answer.headers.get('access-control-allow-origin')).toBe(PAGE)
    const exposed = answer.headers.get('access-control-expose-headers')?.split(', ')
    expect(exposed).toContain('Stream-Next-Offset')
    for (const name of exposed?.slice(0, 2) ?? []) expect(answer.headers.has(name), name).toBe(true)
  })

  test('it reads one run with a token: by a header after a preflight, and by the query without one', async () => {
    const page = engine.api.as(KEY)
    const runner = await openRunner({ workflows: { shown: () => returned('done') } })
    await runner.register(page)
    const { json } = await page.post('/events?token=1h', { name: 'shown' })
    const { runId, token = '' } = json as SendEventReply
    const asked = { origin: PAGE, 'access-control-request-method': 'GET' }
    const allowed = await engine.api.request('OPTIONS', `/runs/${runId}/stream`, {
      headers: { ...asked, 'access-control-request-headers': 'authorization,if-none-match,last-event-id' },
    })
    expect(allowed.status).toBe(204)
    expect(allowed.headers.get('access-control-allow-headers')).toMatch(/Authorization.*If-None-Match.*Last-Event-ID/)
    for (const reading of [
      await engine.api.as(token).request('GET', `/runs/${runId}`, { headers: { origin: PAGE } }),
      await engine.api.request('GET', `/runs/${runId}?token=${token}`, { headers: { origin: PAGE } }),
    ]) {
      expect(reading.status).toBe(200)
      expect(reading.headers.get('access-control-allow-origin')).toBe(PAGE)
      expect(reading.headers.has('access-control-allow-credentials')).toBe(false)
    }
  })

  test('it can read why it was refused, and follow a stream', async () => {
    const refused = await engine.api.request('GET', '/runs', { headers: { origin: PAGE } })
    expect(refused.code).toBe('unauthorized')
    expect(refused.headers.get('access-control-allow-origin')).toBe(PAGE)

    const headers = { origin: PAGE, authorization: `Bearer ${KEY}` }
    const response = await fetch(`${engine.url}/events/stream`, { headers })
    expect(response.headers.get('access-control-allow-origin')).toBe(PAGE)
    await response.body?.cancel()
  })

  test('a page of any other origin gets no permission', async () => {
    for (const origin of ['https://evil.example', `${PAGE}.evil.example`, 'null']) {
      const allowed = await engine.api.request('OPTIONS', '/events', preflight(origin))
      const answer = await engine.api.as(KEY).request('GET', '/runs', { headers: { origin } })
      for (const { headers } of [allowed, answer]) {
        expect(headers.has('access-control-allow-origin'), origin).toBe(false)
      }
    }
  })

  test('without the setting no origin is allowed, and OPTIONS is an unknown method', async () => {
    const answer = await closed.api.request('GET', '/runs', { headers: { origin: PAGE } })
    expect(answer.headers.has('access-control-allow-origin')).toBe(false)
    const allowed = await closed.api.request('OPTIONS', '/events', preflight(PAGE))
    expect([allowed.status, allowed.code]).toEqual([405, 'method_not_allowed'])
  })
})
