// Sessions, codes and the keys of a namespace over HTTP (docs/security.md#sessions).

import type { ApiKey, ControlAction, Session, Whoami } from '@perdure/protocol'
import { expect, test } from 'vitest'
import { ENGINE_VERSION } from '../../../packages/engine/src/base/version.ts'
import { type Api, apiKeys, JumpClock, keyOf, openEngine, until } from '../../kit/index.ts'

const ENGINE_API_KEYS = apiKeys('secret', 'read', 'event', 'secret of other')

async function guarded() {
  const clock = new JumpClock()
  const { api } = await openEngine({ env: { ENGINE_API_KEYS }, clock })
  const ops = api.as(keyOf('secret'))
  const open = async (body: object) => {
    const { status, json } = await api.post('/session', body)
    return { status, session: json as Session, code: (json as { error?: { code: string } }).error?.code }
  }
  return { api, clock, ops, open }
}

const may = async (api: Api) => ({
  read: (await api.get('/runs')).status,
  write: (await api.post('/runs/run_404/cancel')).status,
})
const SIGNED_OUT = { read: 401, write: 401 }
const shared = await guarded()

test('a session reads unless it asks for more, and gives no more than its key', async () => {
  const { api, open } = await guarded()
  const { status, session } = await open({ key: keyOf('secret') })
  expect(status).toBe(201)
  expect(session).toEqual({
    token: expect.stringMatching(/^pdk_session_[\w-]{43}$/),
    namespace: 'default',
    kind: 'read',
    label: 'console: secret',
    expiresAt: expect.any(String),
  })
  expect(await may(api.as(session.token))).toEqual({ read: 200, write: 403 })
  const more = (await open({ key: keyOf('secret'), kind: 'secret' })).session
  expect(await may(api.as(more.token))).toEqual({ read: 200, write: 404 })
  for (const body of [{ key: keyOf('read'), kind: 'secret' }, { key: keyOf('event') }, { key: session.token }]) {
    expect(await open(body)).toMatchObject({ status: 403, code: 'forbidden' })
  }
  expect(await open({ key: 'no key' })).toMatchObject({ status: 401, code: 'unauthorized' })
})

test('a key in the header opens a session too; one in the body goes before it', async () => {
  const { api, ops } = await guarded()
  const open = async (as: Api, body?: object) => {
    const { status, json } = await as.post('/session', body)
    return [status, (json as Session).kind, (json as Session).label]
  }
  const read = [201, 'read', 'console: secret']
  for (const body of [undefined, {}, { ttl: '15m' }]) expect(await open(ops, body)).toEqual(read)
  expect(await open(ops, { kind: 'secret' })).toEqual([201, 'secret', 'console: secret'])
  expect(await open(ops, { key: keyOf('read') })).toEqual([201, 'read', 'console: read'])
  const { code } = (await ops.post('/session/codes', { kind: 'read' })).json as { code: string }
  expect(await open(api.as(keyOf('read')), { code })).toEqual(read)
  expect(await api.as('no key').post('/session', {})).toMatchObject({ status: 401, code: 'unauthorized' })
  expect(await api.as(keyOf('event')).post('/session', {})).toMatchObject({ status: 403, code: 'forbidden' })
})

test('a session ends at its time, with its key and by itself', async () => {
  const { api, clock, ops, open } = await guarded()
  const tokenOf = async (body: object) => api.as((await open(body)).session.token)
  const long = await tokenOf({ key: keyOf('read') })
  const short = await tokenOf({ key: keyOf('read'), ttl: '2m' })
  clock.jump(121_000)
  await until(async () => (await may(short)).read === 401)
  expect((await may(long)).read).toBe(200)
  expect((await long.request('DELETE', '/session')).status).toBe(204)
  expect(await may(long)).toEqual(SIGNED_OUT)
  expect((await ops.request('DELETE', '/session')).status).toBe(409)

  const made = (await ops.post('/keys', { kind: 'read', label: 'ada' })).json as ApiKey & { key: string }
  const ofKey = await tokenOf({ key: made.key })
  expect((await may(ofKey)).read).toBe(200)
  expect((await ops.request('DELETE', `/keys/${made.id}`)).status).toBe(204)
  expect(await may(ofKey)).toEqual(SIGNED_OUT)
  expect(await open({ key: made.key })).toMatchObject({ status: 401 })
})

test('a code opens one session of its kind, once, within a minute', async () => {
  const { api, clock, ops, open } = await guarded()
  const codeOf = async (body?: object) => ((await ops.post('/session/codes', body)).json as { code: string }).code
  const code = await codeOf({ kind: 'secret' })
  expect((await api.as(code).get('/runs')).status).toBe(401)
  const { session } = await open({ code, ttl: '15m' })
  expect(session).toMatchObject({ kind: 'secret', label: 'console: secret' })
  expect((await may(api.as(session.token))).write).toBe(404)
  expect(await open({ code })).toMatchObject({ status: 401, code: 'unauthorized' })
  expect((await open({ code: await codeOf() })).session.kind).toBe('read')
  const late = await codeOf()
  clock.jump(60_000)
  expect(await open({ code: late })).toMatchObject({ status: 401 })
  expect((await api.as(keyOf('read')).post('/session/codes')).status).toBe(403)
  expect((await api.as(session.token).post('/session/codes')).status).toBe(403)
})

test.each([
  [{}, /key or code is required/],
  [{ key: 'a', code: 'b' }, /not both/],
  [{ code: 'b', kind: 'read' }, /kind/],
  [{ key: 'a', kind: 'event' }, /kind must be one of read, secret/],
  [{ key: 'a', ttl: '59s' }, /ttl must be from 1 minute to 12 hours/],
  [{ key: 'a', ttl: '12.1h' }, /ttl must be from 1 minute to 12 hours/],
  [{ key: 'a', ttl: 'soon' }, /ttl must be milliseconds/],
])('a session is not opened by %j', async (body, message) => {
  const { status, json } = await shared.api.post('/session', body)
  expect([status, (json as { error: { message: string } }).error.message]).toEqual([
    400,
    expect.stringMatching(message),
  ])
})

test('a key has at most a hundred sessions: a further one ends the oldest', async () => {
  const { api, open } = await guarded()
  const tokens: Api[] = []
  for (let i = 0; i < 101; i++) tokens.push(api.as((await open({ key: keyOf('read') })).session.token))
  const statuses = await Promise.all([0, 1, 100].map(async i => (await may(tokens[i] as Api)).read))
  expect(statuses).toEqual([401, 200, 200])
})

test('whoami tells what the caller may do', async () => {
  const { api, clock, open } = await guarded()
  const whoami = async (as: Api) => (await as.get('/whoami')).json as Whoami
  const { session } = await open({ key: keyOf('secret') })
  expect(await whoami(api.as(session.token))).toEqual({
    namespace: 'default',
    kind: 'read',
    label: 'console: secret',
    expiresAt: session.expiresAt,
    open: false,
    suspended: false,
    version: ENGINE_VERSION,
    now: expect.any(String),
    store: 'sqlite',
    features: expect.arrayContaining(['signature-v2']),
    limits: { bulkReplay: expect.any(Number), streams: expect.any(Number), keyStreams: expect.any(Number) },
  })
  const secret = await whoami(api.as(keyOf('secret', 'other')))
  expect(secret).toMatchObject({ namespace: 'other', kind: 'secret', label: 'secret of other' })
  expect(secret).not.toHaveProperty('expiresAt')
  expect(Math.abs(Date.parse(secret.now) - clock.now())).toBeLessThan(5000)
  const unkeyed = await openEngine()
  expect(await whoami(unkeyed.api)).toMatchObject({ namespace: 'default', kind: 'secret', open: true })
})

test('keys of a namespace are listed, made and revoked by its holders, and the audit log has it', async () => {
  const { api, ops } = await guarded()
  const { status, json } = await ops.post('/keys', { kind: 'event', label: 'checkout' })
  const made = json as ApiKey & { key: string }
  expect([status, made]).toEqual([
    201,
    {
      id: expect.stringMatching(/^key_/),
      label: 'checkout',
      kind: 'event',
      source: 'store',
      createdAt: expect.any(String),
      key: expect.stringMatching(/^pdk_event_/),
    },
  ])
  expect((await api.as(made.key).post('/events', { name: 'n' })).status).toBe(202)
  const listed = (await ops.get('/keys')).json as ApiKey[]
  expect(listed.map(({ label, source }) => `${label} ${source}`)).toEqual([
    'secret settings',
    'read settings',
    'event settings',
    'checkout store',
  ])
  expect(JSON.stringify(listed)).not.toContain(made.key)
  const first = await ops.get('/keys?limit=3')
  const cursor = first.headers.get('x-next-cursor')
  expect((await ops.get(`/keys?limit=3&cursor=${cursor}`)).json).toEqual([listed[3]])

  const strangers = api.as(keyOf('secret', 'other'))
  expect((await strangers.get('/keys')).json).toHaveLength(1)
  expect((await strangers.request('DELETE', `/keys/${made.id}`)).status).toBe(404)
  expect((await ops.request('DELETE', `/keys/${encodeURIComponent(listed[0]?.id as string)}`)).status).toBe(404)
  for (let i = 0; i < 2; i++) expect((await ops.request('DELETE', `/keys/${made.id}`)).status).toBe(204)
  expect((await api.as(made.key).post('/events', { name: 'n' })).status).toBe(401)
  const { id, kind, label } = made
  const entries = (await ops.get('/control-actions')).json as ControlAction[]
  expect(entries).toMatchObject([
    { action: 'key.revoke', actor: 'secret', detail: { id, kind, label } },
    { action: 'key.create', actor: 'secret', detail: { id, kind, label } },
  ])
})

test('the last use of a key is known to the minute', async () => {
  const { api, clock, ops } = await guarded()
  const { key, id } = (await ops.post('/keys', { kind: 'read' })).json as ApiKey & { key: string }
  await api.as(key).get('/runs')
  clock.jump(61_000)
  const used = await until(
    async () => ((await ops.get('/keys')).json as ApiKey[]).find(one => one.id === id)?.lastUsedAt,
  )
  expect(used).toMatch(/:00\.000Z$/)
})
