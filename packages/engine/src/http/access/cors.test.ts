import { describe, expect, test } from 'vitest'
import { anEndedRun, apiKey, aRun, postJson, refusal, testApp } from '../../../../../test/kit/http/test-app.ts'

const PAGE = 'https://console.example.com'

const corsApp = (origins: string[], keys: string[] = []) =>
  testApp({ config: { corsOrigins: origins, apiKeys: keys.map(key => apiKey(key)) } })

const preflight = (url: string, origin = PAGE) =>
  ({
    method: 'OPTIONS',
    url,
    headers: {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization',
    },
  }) as const

describe('without origins', () => {
  test('no CORS header is sent, and a preflight is a wrong method', async () => {
    const { app } = await testApp()
    const answer = await app.inject({ url: '/runs', headers: { origin: PAGE } })
    expect(Object.keys(answer.headers).filter(name => name.startsWith('access-control'))).toEqual([])
    expect(refusal(await app.inject(preflight('/events')))).toBe('405 method_not_allowed')
  })
})

describe('with origins', () => {
  test('a page of a listed origin may call and read the headers of lists and streams', async () => {
    const { app } = await corsApp(['https://a.example', PAGE])
    const answer = await app.inject({ url: '/runs', headers: { origin: PAGE } })
    expect(answer.statusCode).toBe(200)
    expect(answer.headers).toMatchObject({
      'access-control-allow-origin': PAGE,
      'access-control-expose-headers':
        'X-Next-Cursor, X-Request-Id, X-Scanned-To, X-Event-Id, X-Run-Id, ' +
        'ETag, Stream-Next-Offset, Stream-Cursor, Stream-Up-To-Date, Stream-Closed',
      vary: 'Origin',
    })
  })

  test('a page of another origin gets no permission', async () => {
    const { app } = await corsApp([PAGE])
    for (const origin of ['https://evil.example', `${PAGE}.evil.example`, `${PAGE}:8443`, 'null']) {
      const answer = await app.inject({ url: '/runs', headers: { origin } })
      expect(answer.headers['access-control-allow-origin'], origin).toBeUndefined()
      expect((await app.inject(preflight('/events', origin))).headers).not.toHaveProperty('access-control-allow-origin')
    }
  })

  test('* allows every origin', async () => {
    const { app } = await corsApp(['*'])
    const answer = await app.inject({ url: '/runs', headers: { origin: 'https://any.example' } })
    expect(answer.headers['access-control-allow-origin']).toBe('*')
  })

  test('a preflight needs no key, and never reaches a route', async () => {
    const { app, store, seed } = await corsApp([PAGE], ['s'])
    await seed({ type: 'run.created', run: aRun() })
    const answer = await app.inject(preflight('/runs/run_1/cancel'))
    expect([answer.statusCode, answer.body]).toEqual([204, ''])
    expect(answer.headers).toMatchObject({
      'access-control-allow-origin': PAGE,
      'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE',
      'access-control-allow-headers': 'Authorization, Content-Type, If-None-Match, Last-Event-ID',
    })
    expect((await store.in('default').run('run_1'))?.status).toBe('queued')
    // Neither a list of origins nor a star lets browsers send cookies.
    for (const origins of [[PAGE], ['*']]) {
      const { app: other } = await corsApp(origins)
      for (const { headers } of [
        await other.inject(preflight('/runs')),
        await other.inject({ url: '/runs', headers: { origin: PAGE } }),
      ])
        expect(headers).not.toHaveProperty('access-control-allow-credentials')
    }
  })

  test('refusals are readable too', async () => {
    const { app } = await corsApp([PAGE], ['s'])
    const headers = { origin: PAGE }
    const refused = [
      await app.inject({ url: '/runs', headers }),
      await app.inject({ url: '/nowhere', headers }),
      await app.inject({ method: 'PUT', url: '/runs', headers }),
      await postJson(app, '/events', '{', { ...headers, authorization: 'Bearer s' }),
    ]
    expect(refused.map(refusal)).toEqual([
      '401 unauthorized',
      '404 not_found',
      '405 method_not_allowed',
      '400 invalid_json',
    ])
    for (const answer of refused) expect(answer.headers['access-control-allow-origin']).toBe(PAGE)
  })

  test('405 names the same methods as without origins, also for OPTIONS that is no preflight', async () => {
    const { app } = await corsApp(['*'])
    const answer = await app.inject({ method: 'OPTIONS', url: '/runs' })
    expect(refusal(answer)).toBe('405 method_not_allowed')
    expect(answer.headers.allow).toBe('GET, HEAD')
    expect(refusal(await app.inject({ method: 'OPTIONS', url: '/nowhere' }))).toBe('404 not_found')
  })

  test('a stream has the CORS headers', async () => {
    const { app, seed } = await corsApp([PAGE])
    await seed({ type: 'run.created', run: anEndedRun() })
    const answer = await app.inject({ url: '/runs/run_1/stream', headers: { origin: PAGE } })
    expect(answer.headers).toMatchObject({
      'content-type': 'text/event-stream',
      'access-control-allow-origin': PAGE,
      'x-request-id': expect.any(String),
    })
  })
})
