import { expect, test } from 'vitest'
import { anEndedRun, apiKey, aRun, postJson, refusal, testApp } from '../../../../../test/kit/http/test-app.ts'

const PAGE = 'https://console.example.com'
/** Apps for the pages of a listed origin, with a key, and for those of every origin. */
const corsApp = (...corsOrigins: string[]) => testApp({ config: { corsOrigins, apiKeys: [apiKey('s')] } })
const [listed, every] = [await corsApp('https://a.example', PAGE), await corsApp('*')]
const KEY = { authorization: 'Bearer s' }
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
const call = (url: string, origin = PAGE) => listed.app.inject({ url, headers: { ...KEY, origin } })

test('without origins no CORS header is sent, and a preflight is a wrong method', async () => {
  const { app } = await testApp()
  const answer = await app.inject({ url: '/runs', headers: { origin: PAGE } })
  expect(Object.keys(answer.headers).filter(name => name.startsWith('access-control'))).toEqual([])
  expect(refusal(await app.inject(preflight('/events')))).toBe('405 method_not_allowed')
})

test('a page of a listed origin may call, and read the headers of lists, streams and refusals', async () => {
  const answer = await call('/runs')
  expect(answer.statusCode).toBe(200)
  expect(answer.headers).toMatchObject({
    'access-control-allow-origin': PAGE,
    'access-control-expose-headers':
      'X-Next-Cursor, X-Request-Id, X-Scanned-To, X-Event-Id, X-Run-Id, ' +
      'ETag, Stream-Next-Offset, Stream-Cursor, Stream-Up-To-Date, Stream-Closed',
    vary: 'Origin',
  })

  await listed.seed({ type: 'run.created', run: anEndedRun({ id: 'run_ended' }) })
  expect((await call('/runs/run_ended/stream')).headers).toMatchObject({
    'content-type': 'text/event-stream',
    'access-control-allow-origin': PAGE,
    'x-request-id': expect.any(String),
  })

  const headers = { origin: PAGE }
  const refused = [
    await listed.app.inject({ url: '/runs', headers }),
    await listed.app.inject({ url: '/nowhere', headers }),
    await listed.app.inject({ method: 'PUT', url: '/runs', headers }),
    await postJson(listed.app, '/events', '{', { ...headers, ...KEY }),
  ]
  expect(refused.map(refusal)).toEqual([
    '401 unauthorized',
    '404 not_found',
    '405 method_not_allowed',
    '400 invalid_json',
  ])
  for (const answer of refused) expect(answer.headers['access-control-allow-origin']).toBe(PAGE)
})

test('a page of another origin gets no permission, unless * allows every one', async () => {
  for (const origin of ['https://evil.example', `${PAGE}.evil.example`, `${PAGE}:8443`, 'null']) {
    for (const { headers } of [await call('/runs', origin), await listed.app.inject(preflight('/events', origin))])
      expect(headers, origin).not.toHaveProperty('access-control-allow-origin')
  }
  const answer = await every.app.inject({ url: '/runs', headers: { ...KEY, origin: 'https://any.example' } })
  expect(answer.headers['access-control-allow-origin']).toBe('*')
})

test('a preflight needs no key, and never reaches a route', async () => {
  const { app, store, seed } = listed
  await seed({ type: 'run.created', run: aRun() })
  const answer = await app.inject(preflight('/runs/run_1/cancel'))
  expect([answer.statusCode, answer.body]).toEqual([204, ''])
  expect(answer.headers).toMatchObject({
    'access-control-allow-origin': PAGE,
    'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE',
    'access-control-allow-headers': 'Authorization, Content-Type, If-None-Match, Last-Event-ID',
  })
  expect((await store.in('default').run('run_1'))?.status).toBe('queued')
})

test('neither a list of origins nor a star lets browsers send cookies', async () => {
  for (const { app } of [listed, every]) {
    const answer = await app.inject({ url: '/runs', headers: { ...KEY, origin: PAGE } })
    for (const { headers } of [await app.inject(preflight('/runs')), answer]) {
      expect(headers).toHaveProperty('access-control-allow-origin')
      expect(headers).not.toHaveProperty('access-control-allow-credentials')
    }
  }
})

test('405 names the same methods as without origins, also for OPTIONS that is no preflight', async () => {
  const answer = await every.app.inject({ method: 'OPTIONS', url: '/runs' })
  expect(refusal(answer)).toBe('405 method_not_allowed')
  expect(answer.headers.allow).toBe('GET, HEAD')
  expect(refusal(await every.app.inject({ method: 'OPTIONS', url: '/nowhere' }))).toBe('404 not_found')
})
