// API keys: which kind opens what (§5; decisions "Errors, limits, auth"; promise N1).

import { describe, expect, test } from 'vitest'
import { type Answer, type Api, openEngine, PlainRunner, returned, unique } from '../kit/index.ts'

const KINDS = ['secret', 'read', 'event', 'runner'] as const
const keyOf = (kind: string, namespace = 'default') => `${kind}-key-of-${namespace}-0123456789`
const keys = [
  ...KINDS.map(kind => ({ label: `${kind} key`, namespace: 'default', kind, key: keyOf(kind) })),
  { label: 'elsewhere', namespace: 'other', kind: 'secret', key: keyOf('secret', 'other') },
]
const guarded = await openEngine({ env: { ENGINE_API_KEYS: JSON.stringify(keys) } })
const open = await openEngine()

const registration = { app: 'app', url: 'http://127.0.0.1:9/', workflows: [] }
const ROUTES: [string, (api: Api) => Promise<Answer>, readonly string[]][] = [
  ['GET /runs', api => api.get('/runs'), ['secret', 'read']],
  ['GET /runs/{id}', api => api.get('/runs/run_x'), ['secret', 'read']],
  ['GET /runs/{id}/steps', api => api.get('/runs/run_x/steps'), ['secret', 'read']],
  ['GET /runs/{id}/logs', api => api.get('/runs/run_x/logs'), ['secret', 'read']],
  ['GET /runs/{id}/stream', api => api.get('/runs/run_x/stream'), ['secret', 'read']],
  ['GET /events', api => api.get('/events'), ['secret', 'read']],
  ['GET /events/{id}', api => api.get('/events/evt_x'), ['secret', 'read']],
  ['GET /apps', api => api.get('/apps'), ['secret', 'read']],
  ['GET /runners', api => api.get('/runners'), ['secret', 'read']],
  ['GET /workflows', api => api.get('/workflows'), ['secret', 'read']],
  ['POST /events', api => api.post('/events', { name: 'x' }), ['secret', 'event']],
  ['POST /register', api => api.post('/register', registration), ['secret', 'runner']],
  ['POST /runs/{id}/cancel', api => api.post('/runs/run_x/cancel'), ['secret']],
  ['POST /runs/{id}/pause', api => api.post('/runs/run_x/pause'), ['secret']],
  ['POST /runs/{id}/resume', api => api.post('/runs/run_x/resume'), ['secret']],
  ['POST /runs/{id}/replay', api => api.post('/runs/run_x/replay'), ['secret']],
  [
    'POST /runs/{id}/retry-from-step',
    api => api.post('/runs/run_x/retry-from-step', { step: 'a' }),
    ['secret'],
  ],
]

describe.each(ROUTES)('%s', (_route, ask, allowed) => {
  test('is 401 without a key and with a wrong one', async () => {
    for (const api of [guarded.api, guarded.api.as('wrong-key-0123456789')]) {
      const answer = await ask(api)
      expect(answer).toMatchObject({ status: 401, code: 'unauthorized' })
      expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer/)
    }
  })

  test.each(KINDS)('a %s key is let in or told 403', async kind => {
    const { status, code } = await ask(guarded.api.as(keyOf(kind)))
    if (allowed.includes(kind)) expect([200, 202, 404]).toContain(status)
    else expect({ status, code }).toEqual({ status: 403, code: 'forbidden' })
  })

  test('without any key configured everything is open on loopback', async () => {
    expect([200, 202, 404]).toContain((await ask(open.api)).status)
  })

  test('a key that is given and wrong is 401 even then', async () => {
    expect(await ask(open.api.as('wrong-key-0123456789'))).toMatchObject({
      status: 401,
      code: 'unauthorized',
    })
  })
})

describe('the probes', () => {
  test.each(['/healthz', '/readyz'])('%s looks at no key', async path => {
    for (const api of [guarded.api, guarded.api.as('wrong'), open.api.as('wrong')]) {
      expect((await api.get(path)).status).toBe(200)
    }
  })
})

describe('the Authorization header', () => {
  const status = async (authorization: string) =>
    (await guarded.api.request('GET', '/runs', { headers: { authorization } })).status

  test('is Bearer, whatever its case; nothing else is a key', async () => {
    expect(await status(`Bearer ${keyOf('read')}`)).toBe(200)
    expect(await status(`bearer ${keyOf('read')}`)).toBe(200)
    for (const wrong of [keyOf('read'), `Basic ${keyOf('read')}`, 'Bearer', `Bearer ${keyOf('read')}x`]) {
      expect(await status(wrong), wrong).toBe(401)
    }
  })
})

describe('namespaces: no byte crosses (N1)', () => {
  const here = guarded.api.as(keyOf('secret'))
  const there = guarded.api.as(keyOf('secret', 'other'))

  test("an event starts only its own namespace's workflows, and its ids read as 404 elsewhere", async () => {
    const name = unique('workflow')
    const mine = await new PlainRunner({ workflows: { [name]: () => returned() } }).listen()
    await mine.register(here)
    expect((await there.send({ name })).triggered).toEqual([])
    const { runId, eventId } = await here.send({ name })
    await here.succeeded(runId)
    for (const path of [
      `/runs/${runId}`,
      `/runs/${runId}/steps`,
      `/runs/${runId}/logs`,
      `/runs/${runId}/stream`,
      `/events/${eventId}`,
    ]) {
      expect(await there.get(path), path).toMatchObject({ status: 404, code: 'not_found' })
    }
    for (const action of ['cancel', 'pause', 'resume', 'replay']) {
      expect(await there.post(`/runs/${runId}/${action}`)).toMatchObject({ status: 404, code: 'not_found' })
    }
    for (const path of ['/runs', '/apps', '/runners', '/workflows']) {
      expect((await there.get(path)).json, path).toEqual([])
      expect((await here.get(path)).json, path).not.toEqual([])
    }
    const log = (await there.get('/events')).json as { id: string }[]
    expect(log.map(({ id }) => id)).not.toContain(eventId)
  })

  test('dedupe ids and cursors are of their namespace', async () => {
    const event = { name: unique('event'), dedupeId: unique('d') }
    expect(await here.send(event)).toHaveProperty('eventId')
    expect(await there.send(event)).toHaveProperty('eventId')
    await here.send({ name: event.name })
    const cursor = (await here.get(`/events?name=${event.name}&limit=1`)).headers.get(
      'x-next-cursor',
    ) as string
    const query = `name=${event.name}&cursor=${encodeURIComponent(cursor)}`
    expect(await there.get(`/events?${query}`)).toMatchObject({ status: 400, code: 'invalid_cursor' })
  })
})

test('no key is ever shown: not in an answer, not in the log (N2)', async () => {
  for (const path of ['/runs', '/apps', '/readyz']) {
    const { text } = await guarded.api.as(keyOf('secret')).get(path)
    for (const { key } of keys) expect(text).not.toContain(key)
  }
  for (const { key } of keys) expect(guarded.log.join('\n')).not.toContain(key)
})
