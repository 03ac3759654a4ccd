// How a runner connects: the upgrade, the key, hello and registration, and the errors of each
// (docs/wire-protocol.md#connect).

import { type IncomingHttpHeaders, type RequestOptions, request } from 'node:http'
import { openAdministration } from '@perdure/engine'
import { recipientOf, verifyBody, verifyFor } from '@perdure/protocol'
import { describe, expect, test } from 'vitest'
import { Api, JumpClock, openEngine, scenario, unique, until } from '../../kit/index.ts'
import { ConnectClient, dial, dialAs } from '../../kit/runner/connect-client.ts'

const SIGNING_KEY = 'k'.repeat(32)
const kinds = ['secret', 'read', 'event', 'runner'] as const
const keys = kinds.map(kind => ({ label: kind, namespace: 'team', kind, key: `${kind}-key-of-team` }))
const other = { label: 'other', namespace: 'other', kind: 'secret', key: 'secret-key-of-other' }

const { engine } = await scenario({ realTime: true })
const keyed = await openEngine({
  env: { ENGINE_API_KEYS: JSON.stringify([...keys, other]), ENGINE_SIGNING_KEY: SIGNING_KEY },
})
const ofTeam = new Api(() => keyed.url, 'secret-key-of-team')
const ofOther = new Api(() => keyed.url, 'secret-key-of-other')

/** The error that the socket gets, and the code with which it is closed. */
async function refusalOf(client: ConnectClient): Promise<{ code: unknown; close: number }> {
  return { code: (await client.next('error')).payload.code, close: await client.closes() }
}

const NONCE = Buffer.from('0123456789abcdef').toString('base64')

/** The signature with which the engine answers a handshake. */
function proofOf(headers: Record<string, string> = {}): Promise<string> {
  return new Promise((resolve, reject) => {
    const upgrade = request(`${keyed.url}/connect`, {
      headers: {
        authorization: 'Bearer runner-key-of-team',
        connection: 'Upgrade',
        upgrade: 'websocket',
        'sec-websocket-version': '13',
        'sec-websocket-protocol': 'engine.connect.v0',
        'sec-websocket-key': NONCE,
        ...headers,
      },
    })
    upgrade.on('upgrade', (response, socket) => {
      socket.destroy()
      resolve(response.headers['x-engine-signature'] as string)
    })
    upgrade.on('error', reject).end()
  })
}

describe('the upgrade', () => {
  test('answers with the subprotocol, and signs a nonce of the runner', async () => {
    const client = await dial(keyed.url, { key: 'runner-key-of-team' })
    expect(client.ws.protocol).toBe('engine.connect.v0')
    expect(client.headers['x-engine-signature']).toMatch(/^t=\d+,v1=[0-9a-f]{64}$/)
    const open = await dial(engine.url)
    expect(open.headers['x-engine-signature']).toBe('v0')
  })

  test.each([
    ['no key', undefined],
    ['a wrong key', 'a-key-of-nobody-at-all'],
    ['a key of another kind', 'event-key-of-team'],
  ])('signs nothing for a caller with %s', async (_, key) => {
    for (const headers of [undefined, { 'x-engine-host': 'engine.example' }]) {
      const client = new ConnectClient(keyed.url, { key, ...(headers && { headers }) })
      expect(await client.closes()).toBe(4401)
      expect(client.headers).not.toHaveProperty('x-engine-signature')
      expect(client.headers['sec-websocket-accept']).toBeDefined()
    }
  })

  test('signs the key of the handshake', async () => {
    const header = await proofOf()
    expect(verifyBody({ keys: [SIGNING_KEY], body: NONCE, nowMs: Date.now(), header })).toBe(true)
    expect(verifyBody({ keys: [SIGNING_KEY], body: `${NONCE}x`, nowMs: Date.now(), header })).toBe(false)
  })

  test('signs for the host that the runner says it dialled, and for nothing else', async () => {
    const header = await proofOf({ 'x-engine-host': 'engine.example:4777' })
    const signed = { keys: [SIGNING_KEY], body: NONCE, nowMs: Date.now(), header }
    expect(verifyFor({ ...signed, purpose: 'connect' })).toBe(recipientOf('engine.example:4777'))
    expect(verifyFor({ ...signed, purpose: 'invoke' })).toBeUndefined()
    expect(verifyBody(signed)).toBe(false)
  })

  test('to another path is refused with a plain message; to another protocol it is 404', async () => {
    for (const [path, upgrade] of [
      ['/runs', 'websocket'],
      ['/connect', 'h2c'],
    ] as const) {
      const answer = await fetchUpgrade(engine.url + path, { headers: { connection: 'Upgrade', upgrade } })
      expect(answer.status).toBe(400)
      expect(JSON.parse(answer.text)).toMatchObject({ error: { code: 'invalid_request' } })
    }
  })

  test.each<[string, Record<string, string>, string, number, string]>([
    ['of an unknown version', { 'sec-websocket-version': '12' }, 'GET', 400, 'invalid_request'],
    ['with a malformed key', { 'sec-websocket-key': 'zz' }, 'GET', 400, 'invalid_request'],
    ['with malformed subprotocols', { 'sec-websocket-protocol': 'a,,b' }, 'GET', 400, 'invalid_request'],
    ['by POST', {}, 'POST', 405, 'method_not_allowed'],
  ])('%s is refused as every other request is', async (_, change, method, status, code) => {
    const sound = {
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': Buffer.from('0123456789abcdef').toString('base64'),
    }
    const answer = await fetchUpgrade(`${engine.url}/connect`, { method, headers: { ...sound, ...change } })
    expect(answer.status).toBe(status)
    expect(answer.headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      ...(status === 405 ? { allow: 'GET' } : { 'sec-websocket-version': '13' }),
    })
    const requestId = answer.headers['x-request-id']
    const { details: _details, ...error } = JSON.parse(answer.text).error
    expect(error).toEqual({ code, message: expect.any(String), requestId })
  })

  test('is required by GET /connect', async () => {
    const { status, json } = await engine.api.get('/connect')
    expect(status).toBe(400)
    expect(json).toMatchObject({
      error: { code: 'invalid_request', message: expect.stringContaining('WebSocket') },
    })
  })

  test.each([[[]], [['engine.connect.v1']]])('without the subprotocol ends with 4400: %j', async protocols => {
    const client = new ConnectClient(engine.url, { protocols })
    // A client that requested another subprotocol closes the connection itself.
    if (protocols.length > 0) await until(() => client.closed)
    else expect(await refusalOf(client)).toEqual({ code: 'protocol_mismatch', close: 4400 })
  })

  test('needs a key that may connect', async () => {
    for (const key of ['runner-key-of-team', 'secret-key-of-team']) {
      const client = await dial(keyed.url, { key })
      expect((await client.register({ app: 'team-app' })).type).toBe('runner.registered')
    }
    for (const [key, code] of [
      ['read-key-of-team', 'forbidden'],
      ['event-key-of-team', 'forbidden'],
      ['wrong-key-of-team', 'unauthorized'],
      [undefined, 'unauthorized'],
    ] as const) {
      expect(await refusalOf(new ConnectClient(keyed.url, { key })), `${key}`).toEqual({ code, close: 4401 })
    }
  })

  test('lasts as long as its key: revoking the key closes its sockets', async () => {
    const clock = new JumpClock()
    const timed = await openEngine({ onDisk: true, clock })
    const { administration, close } = await openAdministration(`sqlite:${timed.storeFile}`)
    const { stored, key } = await administration.createKey({ kind: 'runner' })
    await until(async () => {
      clock.jump(1000)
      // The key is valid: only the missing upgrade is wrong.
      return (await timed.api.as(key).get('/connect')).status === 400
    })
    const client = await dialAs(timed.url, { app: 'kept' }, { key })
    const revokedAt = clock.now()
    await administration.revokeKey(stored.id)
    await close()
    await until(() => {
      if (clock.now() < revokedAt + 2000) clock.jump(1000)
      return client.closed
    })
    expect(client.closed?.code).toBe(4401)
    expect(client.frames.at(-1)).toMatchObject({ type: 'error', payload: { code: 'unauthorized' } })
  })

  test('on an open engine is allowed only from this machine', async () => {
    const foreign: Record<string, string>[] = [{ host: 'evil.example' }, { origin: 'https://evil.example' }]
    for (const headers of foreign) {
      const client = new ConnectClient(engine.url, { headers })
      expect(await refusalOf(client)).toEqual({ code: 'forbidden', close: 4401 })
    }
    expect(await refusalOf(new ConnectClient(engine.url, { key: 'given-and-wrong' }))).toMatchObject({
      close: 4401,
    })
  })
})

describe('hello', () => {
  test('is answered with the versions of the engine', async () => {
    const client = await dial(engine.url)
    const id = client.send('hello', { protocolVersion: 1 })
    expect(await client.next('hello')).toMatchObject({
      id,
      payload: {
        protocolVersion: 1,
        sessionId: expect.stringMatching(/^ses_/),
        heartbeatMs: 10_000,
        maxFrameBytes: 4 * 1024 * 1024,
        checkpoints: true,
      },
    })
  })

  test('may leave the version out, or be left out altogether', async () => {
    const client = await dial(engine.url)
    client.send('hello', {})
    client.send('hello')
    await client.next('hello')
    await client.next('hello')
    expect((await client.register({ app: unique('app') })).type).toBe('runner.registered')
  })

  describe.each(['hello', 'runner.register'])('in %s', type => {
    test.each([2, 0, '0', '1', true, [0], null])('another version ends with 4400: %j', async version => {
      const client = await dial(engine.url)
      client.send(type, { protocolVersion: version, app: 'a', workflows: [] })
      expect(await refusalOf(client)).toEqual({ code: 'protocol_mismatch', close: 4400 })
    })
  })

  test.each([
    [null, 'payload'],
    [7, 'payload'],
    [{ instance: '' }, 'instance'],
  ])('that is refused says why and closes: %j', async (payload, field) => {
    const client = await dial(engine.url)
    const id = client.send('hello', payload)
    expect(await client.next('error')).toMatchObject({
      id,
      payload: { code: 'invalid_request', details: { field } },
    })
    expect(await client.closes()).toBe(4400)
  })
})

describe('a registration', () => {
  test('is answered as over HTTP, and lists the runner by its pseudo-URL', async () => {
    const app = unique('söme app')
    const client = await dial(engine.url)
    const answer = await client.register({ app, runner: 'r/1', workflows: ['w'], url: 'http://ignored/' })
    expect(answer).toMatchObject({ payload: { ok: true, runnerId: 'r/1', workflows: 1, warnings: [] } })
    expect((await engine.api.get(`/runners?app=${encodeURIComponent(app)}`)).json).toMatchObject([
      {
        runnerId: 'r/1',
        framework: 'connect',
        url: `conn://default/${encodeURIComponent(app)}/r%2F1`,
        live: true,
      },
    ])
  })

  test.each([
    [{ workflows: [] }, 'app'],
    [{ app: 'a', workflows: [{ name: ' ' }] }, 'workflows[0].name'],
    [{ app: 'a', workflows: [{ name: 'w' }, { name: 'w' }] }, 'workflows[1].name'],
    [{ app: 'a', workflows: [{ name: 'w', triggers: [{ cron: 'x' }] }] }, 'workflows[0].triggers[0].cron'],
    [{ app: 'a', workflows: [], maxConcurrency: 0 }, 'maxConcurrency'],
    [{ app: 'a', workflows: [], underWay: 'all' }, 'underWay'],
    [7, 'payload'],
    [{ app: 'a', workflows: [], keyFingerprint: 'the-key-itself-of-a-runner' }, 'keyFingerprint'],
  ])('that is wrong is refused by its field, and the socket stays: %j', async (payload, field) => {
    const client = await dial(engine.url)
    const id = client.send('runner.register', payload)
    const error = await client.next('error')
    expect(error).toMatchObject({ id, payload: { code: 'invalid_request', details: { field } } })
    expect((await client.register({ app: unique('app') })).type).toBe('runner.registered')
  })

  test('may be repeated with other workflows, and not for another runner', async () => {
    const app = unique('app')
    const client = await dialAs(engine.url, { app, runner: 'r', workflows: ['one'] })
    expect(await client.register({ app, runner: 'r', workflows: ['two'] })).toMatchObject({
      payload: { workflows: 1 },
    })
    const { json } = await engine.api.get(`/workflows?app=${app}`)
    expect(json).toMatchObject([{ name: 'two' }])
    for (const change of [{ app: 'elsewhere' }, { runner: 's' }, { runner: undefined }]) {
      const { type, payload } = await client.register({ app, runner: 'r', ...change })
      expect({ type, code: payload.code }).toEqual({ type: 'error', code: 'invalid_request' })
    }
    expect(client.isOpen).toBe(true)
  })

  test('must come within 10 s', async () => {
    const clock = new JumpClock()
    const timed = await openEngine({ clock })
    const late = await dial(timed.url)
    late.send('hello', {})
    await late.next('hello')
    const registered = await dialAs(timed.url, { app: 'a' })
    clock.jump(10_000)
    expect(await refusalOf(late)).toEqual({ code: 'invalid_request', close: 4400 })
    expect(registered.isOpen).toBe(true)
  })

  test('belongs to the namespace of its key', async () => {
    await dialAs(keyed.url, { app: 'wall', runner: 'same', workflows: ['wall'] }, { key: 'runner-key-of-team' })
    expect((await ofTeam.get('/runners?app=wall')).json).toMatchObject([{ url: 'conn://team/wall/same' }])
    expect((await ofOther.get('/runners?app=wall')).json).toEqual([])
    const stranger = await dialAs(keyed.url, { app: 'wall', runner: 'same', workflows: ['wall'] }, { key: other.key })
    const { runId } = await ofTeam.send({ name: 'wall' })
    await until(async () => (await ofTeam.get(`/runs/${runId}`)).json)
    await ofOther.send({ name: 'wall' })
    const invoke = await stranger.next('invoke')
    expect(invoke.payload).not.toMatchObject({ ctx: { runId } })
    expect(stranger.count('invoke')).toBe(1)
  })
})

/** Requests an upgrade by hand; returns the response that came instead. */
function fetchUpgrade(
  url: string,
  options: RequestOptions,
): Promise<{ status: number | undefined; headers: IncomingHttpHeaders; text: string }> {
  return new Promise((resolve, reject) => {
    const upgrade = request(url, options, response => {
      let text = ''
      response.on('data', chunk => {
        text += chunk
      })
      response.on('end', () => resolve({ status: response.statusCode, headers: response.headers, text }))
    })
    upgrade.on('error', reject).end()
  })
}
