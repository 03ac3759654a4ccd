// API keys: how they are sent, where they come from, and which operations are open without keys
// (docs/security.md#keys-and-namespaces). Which kind opens which operation is in access.test.ts.

import { get } from 'node:http'
import { openAdministration } from '@perdure/engine'
import type { ApiKey, ControlAction } from '@perdure/protocol'
import { describe, expect, test } from 'vitest'
import { WRONG_KEYS_MAX } from '../../../packages/engine/src/http/access/key-guesses.ts'
import {
  type Api,
  apiKeys,
  flow,
  JumpClock,
  keyOf,
  onCleanup,
  openEngine,
  PlainRunner,
  returned,
  type SseMessage,
  scenario,
  sleep,
  unique,
  until,
  within,
} from '../../kit/index.ts'
import { ConnectClient } from '../../kit/runner/connect-client.ts'

const env = { ENGINE_API_KEYS: apiKeys('secret', 'read', 'event', 'runner', 'secret of other') }
const keys = JSON.parse(env.ENGINE_API_KEYS) as { key: string }[]
const { engine: guarded } = await scenario({ realTime: true, env })
const open = await openEngine()

describe('the Authorization header', () => {
  const status = async (authorization: string) =>
    (await guarded.api.request('GET', '/runs', { headers: { authorization } })).status

  test('is Bearer, in any case; nothing else is a key', async () => {
    expect(await status(`Bearer ${keyOf('read')}`)).toBe(200)
    expect(await status(`bearer ${keyOf('read')}`)).toBe(200)
    for (const wrong of [keyOf('read'), `Basic ${keyOf('read')}`, 'Bearer', `Bearer ${keyOf('read')}x`]) {
      expect(await status(wrong), wrong).toBe(401)
    }
  })
})

describe('wrong keys', () => {
  const statusOf = async (api: Api) => {
    const { status, headers, json } = await api.get('/runs')
    return { status, retryAfter: headers.get('retry-after'), code: (json as { error?: { code: string } }).error?.code }
  }

  test('are refused with 429 after some, by HTTP and over Connect; the right ones come in', async () => {
    const short = 'short-but-right-key'
    const all = [...keys, { label: 'short', namespace: 'default', kind: 'secret', key: short }]
    const clock = new JumpClock()
    const { api, url } = await openEngine({ env: { ENGINE_API_KEYS: JSON.stringify(all) }, clock })
    for (let i = 0; i < WRONG_KEYS_MAX; i++) expect(await statusOf(api.as(`guess-${i}`))).toMatchObject({ status: 401 })
    const refused = { status: 429, retryAfter: '3', code: 'rate_limited' }
    expect(await statusOf(api.as('guess-more'))).toEqual(refused)
    expect(await statusOf(api.as('x'.repeat(64)))).toEqual(refused)
    const client = new ConnectClient(url, { key: 'guess-over-connect' })
    expect((await client.next('error')).payload).toMatchObject({ code: 'rate_limited' })
    expect(await client.closes()).toBe(4401)
    // This key is too long for a guess, so it is always looked up.
    expect(await statusOf(api.as(keyOf('secret')))).toMatchObject({ status: 200 })
    // This key could be a guess, so it is not looked up until a look-up is free again.
    expect(await statusOf(api.as(short))).toEqual(refused)
    clock.jump(3_000)
    expect(await statusOf(api.as(short))).toMatchObject({ status: 200 })
  })

  test('are counted over Connect too, and a request without a key is none', async () => {
    const { api, url } = await openEngine({ env, clock: new JumpClock() })
    for (let i = 0; i < 30; i++) expect((await api.get('/runs')).status).toBe(401)
    for (let i = 0; i < WRONG_KEYS_MAX; i++) {
      const client = new ConnectClient(url, { key: `guess-${i}` })
      expect((await client.next('error')).payload).toMatchObject({ code: 'unauthorized' })
    }
    expect(await statusOf(api.as('guess'))).toMatchObject({ status: 429 })
  })
})

test('dedupe ids belong to their namespace', async () => {
  const event = { name: unique('event'), dedupeId: unique('d') }
  for (const namespace of ['default', 'other'])
    expect(await guarded.api.as(keyOf('secret', namespace)).send(event)).toHaveProperty('eventId')
})

describe('keys of the store, while the engine runs', () => {
  /** An engine whose clock the test moves, and a connection to its store like the one that `perdure keys` opens. */
  async function live(env: Record<string, string> = {}) {
    const clock = new JumpClock()
    const { api, storeFile, log } = await openEngine({ onDisk: true, env, clock })
    const { administration, close } = await openAdministration(`sqlite:${storeFile}`)
    onCleanup(close)
    const status = async (as: Api = api) => (await as.get('/runs')).status
    /** Waits for that status, and meanwhile moves the clock from one read of the keys to the next. */
    const becomes = (expected: number, as: Api = api) =>
      until(
        async () => {
          clock.jump(1000)
          return (await status(as)) === expected
        },
        { what: `status ${expected}` },
      )
    return { api, log, clock, administration, status, becomes }
  }

  test('the first one closes an open engine and ends its streams, and revoking it opens nothing', async () => {
    const { api, administration, status, becomes } = await live()
    const { over } = await api.follow('/events/stream')
    const { stored, key } = await administration.createKey({ kind: 'secret' })
    await becomes(401)
    expect((await within(over, 'the end of the stream')).ended).toBe(true)
    expect(await status(api.as(key))).toBe(200)
    await administration.revokeKey(stored.id)
    await becomes(401, api.as(key))
    expect(await status()).toBe(401)
  })

  test('that have expired are refused with the time, and end their streams and sessions, also after a start', async () => {
    const clock = new JumpClock()
    const engine = await openEngine({ onDisk: true, clock, env })
    const secret = engine.api.as(keyOf('secret'))
    const expiresAt = new Date(clock.now() + 3_600_000).toISOString()
    const body = { kind: 'read', label: 'audit', expiresAt }
    const made = (await secret.post('/keys', body)).json as ApiKey & { key: string }
    expect(made).toMatchObject({ label: 'audit', expiresAt })
    const audit = engine.api.as(made.key)
    expect((await audit.get('/whoami')).json).toMatchObject({ label: 'audit', expiresAt })
    const session = (await engine.api.post('/session', { key: made.key })).json as { token: string; expiresAt: string }
    expect(session.expiresAt).toBe(expiresAt)
    const { over } = await audit.follow('/runs/stream')
    clock.jump(3_590_000)
    expect((await audit.get('/runs')).status).toBe(200)
    clock.jump(11_000)
    const hasEnded = async () => {
      clock.jump(1000)
      return (await audit.get('/runs')).status === 401
    }
    await until(hasEnded, { what: 'the end of the key' })
    const refusal = `the API key expired at ${expiresAt}`
    expect((await audit.get('/runs')).text).toContain(refusal)
    expect((await within(over, 'the end of the stream')).ended).toBe(true)
    expect((await engine.api.as(session.token).get('/runs')).status).toBe(401)
    expect((await engine.api.post('/session', { key: made.key })).text).toContain(refusal)
    const listed = (await secret.get('/keys')).json as ApiKey[]
    expect(listed.find(({ id }) => id === made.id)).toMatchObject({ expiresAt })
    const [action] = (await secret.get('/control-actions?action=key.create')).json as ControlAction[]
    expect(JSON.stringify(action?.detail)).toContain(expiresAt)
    await engine.stop()
    const again = await openEngine({ storeFile: engine.storeFile, clock, env })
    expect((await again.api.as(made.key).get('/runs')).text).toContain(refusal)
  })

  test.each([
    ['2001-01-01T00:00:00Z', 'expiresAt must be in the future'],
    ['9999-12-31T23:59:59-23:00', 'expiresAt must not be after the year 9999'],
    ['soon', 'expiresAt must be an RFC 3339 timestamp'],
  ])('that expire at %s are refused', async (expiresAt, why) => {
    const answer = await guarded.api.as(keyOf('secret')).post('/keys', { kind: 'read', expiresAt })
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining(why)])
  })

  test('work beside the fixed ones, each with its kind, namespace and label', async () => {
    const { api, administration, becomes, status } = await live(env)
    const { key } = await administration.createKey({ kind: 'read', namespace: 'acme' })
    const secret = await administration.createKey({
      kind: 'secret',
      namespace: 'acme',
      label: 'the operator',
    })
    const acme = api.as(secret.key)
    await becomes(200, acme)
    expect(await status(api.as(keyOf('read')))).toBe(200)
    expect((await api.as(key).post('/events', { name: 'x' })).status).toBe(403)
    const name = unique('workflow')
    const runner = await new PlainRunner({ workflows: { [name]: () => returned() } }).listen()
    await runner.register(acme)
    const { runId } = await acme.send({ name })
    await acme.succeeded(runId)
    await acme.post(`/runs/${runId}/replay`)
    expect((await api.as(key).get('/control-actions')).json).toMatchObject([{ actor: 'the operator' }])
    expect((await api.as(keyOf('secret')).get(`/runs/${runId}`)).status).toBe(404)
  })

  test('hold for open streams, too: a revoked key ends its own streams, and no others', async () => {
    const { api, administration, becomes } = await live(env)
    const { stored, key } = await administration.createKey({ kind: 'read' })
    const [revoked, kept] = [api.as(key), api.as(keyOf('secret'))]
    await becomes(200, revoked)
    const name = unique('workflow')
    const runner = await new PlainRunner({ workflows: { [name]: flow([sleep('nap', 3_600_000)]) } }).listen()
    await runner.register(kept)
    const { runId } = await kept.send({ name })
    await kept.reaches(runId, 'waiting')
    const paths = ['/events/stream', '/runs/stream', `/runs/${runId}/stream`]
    const ended = await Promise.all(paths.map(path => revoked.follow(path)))
    const later = unique('later')
    const stopWhen = (messages: readonly SseMessage[]) => messages.some(({ data }) => data.name === later)
    const goesOn = await kept.follow('/events/stream', { stopWhen })
    await administration.revokeKey(stored.id)
    await becomes(401, revoked)
    for (const { over } of ended) expect((await within(over, 'the end of the stream')).ended).toBe(true)
    await kept.send({ name: later })
    expect((await goesOn.over).ended).toBe(false)
  })

  test('are never shown, not even as hashes', async () => {
    const { api, log, administration, becomes } = await live(env)
    const { key, stored } = await administration.createKey({ kind: 'secret' })
    await becomes(200, api.as(key))
    await api.as(key).post('/runs/run_x/cancel')
    const seen = [
      ...log,
      ...(await Promise.all(['/runs', '/apps', '/keys', '/readyz'].map(path => api.as(key).get(path)))).map(
        a => a.text,
      ),
    ]
    for (const secret of [key, stored.hash, ...keys.map(({ key }) => key)])
      expect(seen.join('\n')).not.toContain(secret)
  })
})

describe('an open engine and a foreign Host', () => {
  /** `fetch` does not allow a Host header. */
  const ask = (url: string, path: string, host: string) =>
    new Promise<{ status: number | undefined; body: string }>((resolve, reject) => {
      get(url + path, { headers: { host }, agent: false }, response => {
        let body = ''
        response.setEncoding('utf8').on('data', text => {
          body += text
        })
        response.on('end', () => resolve({ status: response.statusCode, body }))
      }).on('error', reject)
    })

  test('a page whose host name resolves to loopback gets nothing', async () => {
    const { status, body } = await ask(open.url, '/runs', 'rebound.example:4777')
    expect(status).toBe(403)
    expect(JSON.parse(body)).toMatchObject({ error: { code: 'forbidden' } })
    for (const host of ['localhost:4777', '127.0.0.1', '[::1]:4777'])
      expect((await ask(open.url, '/runs', host)).status, host).toBe(200)
    expect((await ask(open.url, '/healthz', 'rebound.example')).status).toBe(200)
  })
})
