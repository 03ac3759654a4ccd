// Tokens that read one run (docs/security.md#run-tokens): what they open, what they show, and when they expire.

import { openAdministration } from '@perdure/engine'
import type { ApiKey, ControlAction, Run, RunToken, SendEventReply, StartedRun } from '@perdure/protocol'
import { describe, expect, test } from 'vitest'
import {
  type Api,
  discovered,
  flow,
  gate,
  type Handler,
  onCleanup,
  opcode,
  openRunner,
  readSse,
  returned,
  scenario,
  unique,
  until,
  wait,
} from '../../kit/index.ts'

const keyOf = (kind: string, namespace = 'default') => `${kind}-key-of-${namespace}-0123456789`
const KEYS = ['default', 'other'].flatMap(namespace =>
  ['secret', 'read', 'event', 'runner'].map(kind => ({ label: kind, namespace, kind, key: keyOf(kind, namespace) })),
)
const { engine, clock } = await scenario({ onDisk: true, env: { ENGINE_API_KEYS: JSON.stringify(KEYS) } })
const { administration, close } = await openAdministration(engine.store)
onCleanup(close)
const ops = engine.api.as(keyOf('secret'))
const other = engine.api.as(keyOf('secret', 'other'))

const MINUTE = 60_000

async function workflow(handler: Handler, api: Api = ops, features: string[] = []): Promise<string> {
  const name = unique('tokens')
  const runner = await openRunner({ runner: unique('r'), workflows: { [name]: handler } })
  await runner.register(api, { features })
  return name
}

/** A run that waits, with an input, a log line and an attribute. */
async function waiting(api: Api = ops): Promise<{ runId: string; go: string; name: string }> {
  const go = unique('go')
  const rest = flow([wait('go', go)])
  const logs = [{ level: 'info', message: 'a log line', scope: '@root', index: 0 } as const]
  const name = await workflow(
    (invoke, record) =>
      invoke.pass === 1 ? discovered([opcode('StepRun', 'first', { data: 1 })], logs) : rest(invoke, record),
    api,
  )
  const { runId } = await api.send({ name, data: 'the input', attributes: { customer: 'ada' } })
  await api.reaches(runId, 'waiting')
  return { runId, go, name }
}

async function tokenOf(runId: string, body?: object, api: Api = ops): Promise<string> {
  const { status, json } = await api.post(`/runs/${runId}/tokens`, body)
  expect(status).toBe(201)
  return (json as RunToken).token
}

/** Statuses of the routes that a token opens, by header and by query. */
async function opened(runId: string, token: string): Promise<number[]> {
  const paths = ['', '/result', '/stream']
  const answers = paths.flatMap(path => [
    engine.api.as(token).request('GET', `/runs/${runId}${path}`, { headOnly: true }),
    engine.api.request('GET', `/runs/${runId}${path}?token=${token}`, { headOnly: true }),
  ])
  return [...new Set((await Promise.all(answers)).map(({ status }) => (status === 202 ? 200 : status)))]
}

test('keys of kind secret and read make one for any run of their namespace, which is audited', async () => {
  const { runId } = await waiting()
  for (const kind of ['secret', 'read'])
    expect(await opened(runId, await tokenOf(runId, {}, engine.api.as(keyOf(kind))))).toEqual([200])
  for (const kind of ['event', 'runner'])
    expect(await engine.api.as(keyOf(kind)).post(`/runs/${runId}/tokens`)).toMatchObject({ status: 403 })
  expect(await other.post(`/runs/${runId}/tokens`)).toMatchObject({ status: 404, code: 'not_found' })
  expect(await ops.post('/runs/run_none/tokens')).toMatchObject({ status: 404, code: 'not_found' })
  const entries = (await ops.get(`/control-actions?runId=${runId}`)).json as ControlAction[]
  expect(entries.map(({ action, actor }) => [action, actor])).toEqual([
    ['run.token', 'read'],
    ['run.token', 'secret'],
  ])
})

test('a token counts for its ttl: one hour by default, 24 hours at most', async () => {
  const { runId } = await waiting()
  const lasts = async (body?: object) => {
    const { json } = await ops.post(`/runs/${runId}/tokens`, body)
    return Date.parse((json as RunToken).expiresAt) - clock.now()
  }
  expect(await lasts()).toBe(60 * MINUTE)
  expect(await lasts({ ttl: '24h' })).toBe(24 * 60 * MINUTE)
  expect(await lasts({ ttl: 1000 })).toBe(1000)
  for (const ttl of ['24h1s', 999, 0, -1, '90', 'soon']) {
    const refused = await ops.post(`/runs/${runId}/tokens`, { ttl })
    expect(refused, String(ttl)).toMatchObject({ status: 400, code: 'invalid_request' })
    expect(refused.text).toMatch(/ttl/)
  }
  const token = await tokenOf(runId, { ttl: '2m' })
  clock.jump(2 * MINUTE - 1)
  expect(await opened(runId, token)).toEqual([200])
  clock.jump(1)
  expect(await opened(runId, token)).toEqual([401])
})

test('it opens the run, its result and its stream, and no other run, route or method', async () => {
  const [{ runId }, elsewhere, foreign] = [await waiting(), await waiting(), await waiting(other)]
  const token = await tokenOf(runId)
  const reader = engine.api.as(token)
  expect(await opened(runId, token)).toEqual([200])
  for (const id of [elsewhere.runId, foreign.runId, 'run_none']) expect(await opened(id, token), id).toEqual([403])
  for (const path of ['/steps', '/logs', '/why', '/tree', '/passes', '/bundle', '/signals'])
    expect(await reader.get(`/runs/${runId}${path}`), path).toMatchObject({ status: 403, code: 'forbidden' })
  for (const path of ['/runs', '/events', '/whoami', '/stream?topics=runs', '/metrics', '/runs/stream'])
    expect(await reader.get(path), path).toMatchObject({ status: 403 })
  expect(await engine.api.get(`/runs?token=${token}`)).toMatchObject({ status: 403 })
  expect(await engine.api.get(`/runs/${runId}/logs?token=${token}`)).toMatchObject({ status: 403 })
  const writes = [
    reader.request('DELETE', `/runs/${runId}`),
    reader.post(`/runs/${runId}/cancel`),
    reader.post(`/runs/${runId}/tokens`),
    reader.post(`/runs/${runId}/signals/go`),
    reader.post('/events', { name: 'n' }),
    reader.post('/mcp', { jsonrpc: '2.0', id: 1, method: 'ping' }),
    engine.api.request('DELETE', `/runs/${runId}?token=${token}`),
  ]
  for (const answer of await Promise.all(writes)) expect(answer).toMatchObject({ status: 403, code: 'forbidden' })
  expect(await reader.request('GET', '/connect')).toMatchObject({ status: 403 })
  expect(await reader.post('/session', { key: token })).toMatchObject({ status: 401 })
  expect((await ops.run(runId)).status).toBe('waiting')
})

test('it shows no input, attributes, log lines or stacks', async () => {
  const error = { message: 'no card', name: 'CardError', stack: 'CardError: no card\n at charge (/secret/path.ts:1)' }
  const logs = [{ level: 'info', message: 'a log line', scope: '@root', index: 0 } as const]
  const name = await workflow(({ pass }) =>
    pass === 1
      ? discovered([opcode('StepRun', 'first', { data: 1 })], logs)
      : { status: 400, body: { error, logs: [] } },
  )
  const { runId } = await ops.send({ name, data: 'the input', attributes: { customer: 'ada' } })
  await ops.failed(runId)
  const reader = engine.api.as(await tokenOf(runId))
  const { input, attributes, error: full, ...rest } = await ops.run(runId)
  expect([input, attributes, full?.stack]).toEqual([
    'the input',
    { customer: 'ada' },
    expect.stringContaining('/secret'),
  ])
  const shown = { message: 'no card', name: 'CardError' }
  expect(await reader.run(runId)).toEqual({ ...rest, error: expect.objectContaining(shown) })
  const texts = [await reader.get(`/runs/${runId}`), await reader.get(`/runs/${runId}/result`)]
  expect(texts[1]?.json).toMatchObject({ status: 'failed', error: shown })
  const stream = await reader.stream(runId)
  expect(stream).toMatchObject({ status: 200, ended: true })
  const all = await ops.stream(runId)
  const kinds = (read: typeof stream) => new Set(read.messages.map(({ event }) => event))
  expect([kinds(all).has('log'), kinds(stream).has('log')]).toEqual([true, false])
  expect(stream.messages.map(({ id }) => id)).toEqual(
    all.messages.filter(({ event }) => event !== 'log').map(({ id }) => id),
  )
  const raw = stream.messages.map(message => message.raw).join()
  for (const text of [...texts.map(({ text }) => text), raw])
    expect(text).not.toMatch(/the input|ada|a log line|secret\/path/)
})

test('a live stream leaves out log lines, and goes on behind them', async () => {
  const [opened, seen] = [gate(), gate()]
  const logs = [{ level: 'info', message: 'a log line', scope: '@root', index: 1 } as const]
  const name = await workflow(async ({ pass }) => {
    if (pass === 1) return discovered([opcode('StepRun', 'first', { data: 1 })])
    await opened.opened
    return pass === 2 ? discovered([opcode('StepRun', 'second', { data: 2 })], logs) : returned('done', logs)
  })
  const { runId } = await ops.send({ name })
  const live = engine.api.as(await tokenOf(runId)).stream(runId, { onOpen: seen.open })
  await seen.opened
  opened.open()
  const { messages, ended } = await live
  expect(ended).toBe(true)
  expect(messages.at(-1)?.data).toMatchObject({ kind: 'run_status', status: 'succeeded' })
  expect(messages.some(({ event }) => event === 'log')).toBe(false)
})

test('it opens the output streams of the run, and ends their live reads with its time', async () => {
  const [{ runId }, elsewhere] = [await waiting(), await waiting()]
  const token = await tokenOf(runId, { ttl: '10s' })
  for (const path of ['/streams', '/streams/answer', '/streams/answer?text=1', '/streams/answer?offset=now']) {
    expect(await engine.api.as(token).get(`/runs/${runId}${path}`), path).toMatchObject({ status: 200 })
    const query = `${path.includes('?') ? '&' : '?'}token=${token}`
    expect(await engine.api.get(`/runs/${runId}${path}${query}`), path).toMatchObject({ status: 200 })
    expect(await engine.api.as(token).get(`/runs/${elsewhere.runId}${path}`), path).toMatchObject({ status: 403 })
  }
  const path = `/runs/${runId}/streams/answer?offset=-1&token=${token}`
  expect((await engine.api.request('HEAD', path)).status).toBe(200)
  const open = gate()
  const over = readSse(`${engine.url}${path}&live=sse`, { onOpen: open.open })
  const poll = engine.api.get(`${path}&live=long-poll`)
  await open.opened
  clock.jump(10_000)
  expect(await over).toMatchObject({ status: 200, ended: true })
  expect(await poll).toMatchObject({ status: 401, code: 'unauthorized' })
})

test('the runs of a chain are one run', async () => {
  const name = await workflow(
    ({ event }) =>
      (event.data as { left: number }).left > 0
        ? { status: 200, body: { continueAs: { data: { left: 0 } }, logs: [] } }
        : { status: 200, body: { data: 'the end', logs: [] } },
    ops,
    ['continue-as'],
  )
  const { runId } = await ops.send({ name, data: { left: 1 } })
  const { continuedAs = '' }: Run = await ops.succeeded(runId)
  await ops.succeeded(continuedAs)
  for (const of of [runId, continuedAs]) {
    const token = await tokenOf(of)
    expect(await opened(runId, token)).toEqual([200])
    expect(await opened(continuedAs, token)).toEqual([200])
  }
  const result = await engine.api.as(await tokenOf(runId)).get(`/runs/${runId}/result`)
  expect(result).toMatchObject({ status: 200, json: { runId: continuedAs, result: 'the end' } })
})

describe('credentials', () => {
  test('the header goes before the query, and an API key in the query is none', async () => {
    const { runId } = await waiting()
    const token = await tokenOf(runId)
    const path = `/runs/${runId}`
    expect((await ops.get(`${path}?token=${token}`)).json).toHaveProperty('input')
    expect((await ops.get(`${path}?token=nonsense`)).json).toHaveProperty('input')
    expect(await engine.api.as('wrong').get(`${path}?token=${token}`)).toMatchObject({ status: 401 })
    for (const wrong of [keyOf('secret'), '', 'pdt_', `${token}&token=${token}`])
      expect(await engine.api.get(`${path}?token=${wrong}`), wrong).toMatchObject({ status: 401, code: 'unauthorized' })
  })

  test('a changed token is refused, whatever was changed', async () => {
    const [{ runId }, elsewhere] = [await waiting(), await waiting()]
    const token = await tokenOf(runId)
    const [head = '', signature = ''] = token.slice('pdt_'.length).split('.')
    const content = JSON.parse(Buffer.from(head, 'base64url').toString()) as unknown[]
    const forged = (...changed: unknown[]) =>
      `pdt_${Buffer.from(JSON.stringify(changed)).toString('base64url')}.${signature}`
    const [namespace, id, expiresAt, keyId, print] = content
    const wrong = [
      forged(namespace, elsewhere.runId, expiresAt, keyId, print),
      forged(namespace, id, Number(expiresAt) + 1, keyId, print),
      forged('other', id, expiresAt, keyId, print),
      forged(namespace, id, expiresAt, '', ''),
      `pdt_${head}.${signature.slice(0, -1)}${signature.endsWith('A') ? 'B' : 'A'}`,
      `pdt_${head}.`,
      `pdt_${head}`,
      `${token}.`,
      `${token}x`,
      token.slice('pdt_'.length),
      `pdt_${'x'.repeat(3000)}`,
    ]
    for (const one of wrong) expect(await opened(runId, one), one).toEqual([401])
    expect(await opened(runId, token)).toEqual([200])
  })

  test('tokens whose time is over do not count as wrong keys of their address', async () => {
    const { runId } = await waiting()
    for (let i = 0; i < 120; i++) expect((await engine.api.as(`pdt_wrong-${i}`).get(`/runs/${runId}`)).status).toBe(401)
    expect((await engine.api.as('short').get('/runs')).status).toBe(401)
  })
})

describe('a token ends', () => {
  async function made(kind: string): Promise<ApiKey & { key: string }> {
    return (await ops.post('/keys', { kind, label: unique('key') })).json as ApiKey & { key: string }
  }

  /** An open stream, with a promise of its end. */
  async function openStream(runId: string, token: string) {
    const open = gate()
    const over = readSse(`${engine.url}/runs/${runId}/stream?token=${token}`, { onOpen: open.open })
    await open.opened
    return { over }
  }

  test('with its time, its open streams and waits too', async () => {
    const { runId } = await waiting()
    const token = await tokenOf(runId, { ttl: '30s' })
    const { over } = await openStream(runId, token)
    const result = engine.api.as(token).get(`/runs/${runId}/result?wait=60s`)
    clock.jump(MINUTE / 2)
    expect(await over).toMatchObject({ status: 200, ended: true })
    expect(await result).toMatchObject({ status: 401, code: 'unauthorized' })
    expect(await opened(runId, token)).toEqual([401])
  })

  test('with the key that made it', async () => {
    const { runId } = await waiting()
    const { id, key } = await made('read')
    const token = await tokenOf(runId, {}, engine.api.as(key))
    const { over } = await openStream(runId, token)
    expect((await ops.request('DELETE', `/keys/${id}`)).status).toBe(204)
    expect(await over).toMatchObject({ ended: true })
    expect(await opened(runId, token)).toEqual([401])
  })

  test('with the session that made it', async () => {
    const { runId } = await waiting()
    const session = (await engine.api.post('/session', { key: keyOf('read') })).json as { token: string }
    const token = await tokenOf(runId, {}, engine.api.as(session.token))
    expect(await opened(runId, token)).toEqual([200])
    expect((await engine.api.as(session.token).request('DELETE', '/session')).status).toBe(204)
    expect(await opened(runId, token)).toEqual([401])
  })

  test('while its namespace is suspended, where none is made either', async () => {
    const { runId } = await waiting(other)
    const token = await tokenOf(runId, {}, other)
    const { over } = await openStream(runId, token)
    await administration.suspend('other')
    clock.jump(1000)
    expect(await over).toMatchObject({ ended: true })
    expect(await opened(runId, token)).toEqual([401])
    expect(await other.post(`/runs/${runId}/tokens`)).toMatchObject({ status: 403, code: 'namespace_suspended' })
    await administration.resume('other')
    await until(async () => {
      clock.jump(1000)
      return (await opened(runId, token))[0] === 200
    })
  })
})

describe('beside a run that a request starts', () => {
  const send = async (query: string, event: object, kind = 'event') =>
    (await engine.api.as(keyOf(kind)).post(`/events?${query}`, event)) as { status: number; json: SendEventReply }

  test('POST /events gives a key of kind event a token for exactly one new run', async () => {
    const name = await workflow(() => returned('done'))
    const { status, json } = await send('token=5m', { name })
    expect(status).toBe(202)
    expect(Date.parse(json.tokenExpiresAt as string) - clock.now()).toBe(5 * MINUTE)
    await ops.succeeded(json.runId as string)
    expect(await opened(json.runId as string, json.token as string)).toEqual([200])
    expect((await send('', { name })).json).not.toHaveProperty('token')
    const both = await send('token=1h&wait=30s', { name })
    expect(both.json).toMatchObject({ token: expect.any(String), run: { status: 'succeeded' } })
  })

  test('it gives none where no run, two runs, or no run now starts', async () => {
    const shared = unique('shared')
    const registration = { triggers: [{ event: shared }] }
    const runner = (of: string) => ({ [of]: { handler: () => returned(1), registration } })
    const both = await openRunner({ workflows: { ...runner(unique('a')), ...runner(unique('b')) } })
    await both.register(ops)
    const two = await send('token=1h', { name: shared })
    expect(two.json.triggered).toHaveLength(2)
    expect(two.json).not.toHaveProperty('token')
    expect((await send('token=1h', { name: unique('nothing') })).json).not.toHaveProperty('token')
    const repeated = { name: await workflow(() => returned(1)), dedupeId: unique('once') }
    expect((await send('token=1h', repeated)).json).toHaveProperty('token')
    expect((await send('token=1h', repeated)).json).toEqual({ deduped: true })
    expect((await send('token=1h&dryRun=1', { name: shared }, 'secret')).json).not.toHaveProperty('token')
    const later = await send('token=1h', { name: shared, delay: '1h' })
    expect(later).toMatchObject({ status: 400, json: { error: { details: { field: 'token' } } } })
    for (const token of ['25h', '999', 'soon', ''])
      expect(await send(`token=${token}`, { name: shared }), token).toMatchObject({ status: 400 })
  })

  test('a direct start gives one, also to a repeat', async () => {
    const name = await workflow(() => returned('done'))
    const app = ((await ops.get('/workflows')).json as { name: string; app: string }[]).find(
      one => one.name === name,
    )?.app
    const path = `/workflows/${app}/${name}/runs`
    const runId = unique('run_token-of-a-start').replace(/[^\w-]/g, '-')
    for (const [status, query] of [
      [201, '?token=1h'],
      [200, '?token=1h'],
    ] as const) {
      const answer = await ops.post(`${path}${query}`, { runId })
      expect(answer.status).toBe(status)
      const { id, token, tokenExpiresAt } = answer.json as StartedRun
      expect(Date.parse(tokenExpiresAt as string) - clock.now()).toBe(60 * MINUTE)
      expect(await opened(id, token as string)).toEqual([200])
    }
    expect((await ops.post(path)).json).not.toHaveProperty('token')
    expect(await ops.post(`${path}?token=1h`, { dryRun: true })).toMatchObject({ status: 400 })
  })
})
