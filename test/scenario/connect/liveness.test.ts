// Liveness of Connect sockets: heartbeats in both directions, pings, and the eviction of silent runners
// (docs/wire-protocol.md#heartbeats).

import { expect, test } from 'vitest'
import { scenario, unique, until } from '../../kit/index.ts'
import { type ConnectClient, dial, dialAs } from '../../kit/runner/connect-client.ts'

const { api, clock, url } = await scenario()
const runnersOf = async (app: string) => (await api.get(`/runners?app=${app}`)).json as { lastSeenAt: string }[]

/** Advances to the next heartbeat, and waits until `client` has it. */
async function beat(client: ConnectClient): Promise<void> {
  const before = client.count('heartbeat')
  clock.jump(10_000)
  await until(() => client.count('heartbeat') > before)
}

/** A client that answers neither heartbeats nor pings. */
async function mute(app: string, runner?: string): Promise<ConnectClient> {
  const client = await dialAs(url, { app, runner, workflows: [app] })
  ;(client.ws as unknown as { _autoPong: boolean })._autoPong = false
  return client
}

test('a heartbeat is answered', async () => {
  const client = await dial(url)
  const id = client.send('heartbeat')
  expect(await client.next('heartbeat.ack')).toMatchObject({ id })
})

test('a runner that answers nothing for 30 s is evicted with 4408, and its runs go to another runner', async () => {
  const app = unique('silent')
  const silent = await mute(app, 'silent')
  const { runId } = await api.send({ name: app })
  await silent.next('invoke')
  for (let i = 0; i < 3; i++) await beat(silent)
  expect(await runnersOf(app)).toHaveLength(1)
  // Half a second for the answer to the last heartbeat.
  clock.jump(1000)
  expect(await silent.closes()).toBe(4408)
  expect(await runnersOf(app)).toEqual([])
  const other = await dialAs(url, { app, runner: 'other', workflows: [app] })
  // First the grace period of the lost socket, then the delay before the pass is repeated.
  await until(async () => {
    clock.jump(1000)
    // The request lets the sockets work: `other` must answer its heartbeats between the jumps.
    await api.run(runId)
    return other.count('invoke') > 0
  })
  const { id, payload } = await other.next('invoke')
  expect(payload).toMatchObject({ ctx: { runId } })
  other.result(id, 200, '{"logs":[]}')
  await api.succeeded(runId)
})

test('a runner that beats and answers nothing is passed over at once while another lives, and evicted within 16 s', async () => {
  const app = unique('vanished')
  const beats = { app, workflows: [app], features: ['beats'] }
  const silent = await dialAs(url, { ...beats, runner: 'silent' })
  const old = await api.send({ name: app })
  await silent.next('invoke')
  const other = await dialAs(url, { ...beats, runner: 'other' })
  // Its pong has confirmed the first invoke.
  clock.jump(1000)
  await until(() => silent.pings > 0, { what: 'a ping' })
  await api.get('/healthz')
  silent.ws.pong()
  ;(silent.ws as unknown as { _autoPong: boolean })._autoPong = false
  clock.jump(10)
  const runIds: string[] = []
  while (silent.count('invoke') === 1) {
    runIds.push((await api.send({ name: app })).runId)
    await until(() => silent.count('invoke') + other.count('invoke') > runIds.length, { what: 'its invoke' })
  }
  const tried = (await silent.next('invoke')).payload.ctx as { runId: string }
  const received = () => other.frames.filter(({ type }) => type === 'invoke').map(({ payload }) => payload.ctx)
  await until(
    async () => {
      clock.jump(100)
      await api.get('/healthz')
      return received().some(ctx => (ctx as { runId: string }).runId === tried.runId)
    },
    { what: 'the moved run' },
  )
  expect(silent.count('invoke.cancel')).toBe(1)
  for (let i = 0; i < 10; i++) runIds.push((await api.send({ name: app })).runId)
  await until(() => received().length === runIds.length, { what: 'all on the other' })
  expect(silent.isOpen).toBe(true)
  await until(
    async () => {
      clock.jump(500)
      await api.get('/healthz')
      return silent.closed
    },
    { what: 'the end' },
  )
  await until(async () => {
    clock.jump(500)
    await api.get('/healthz')
    return received().some(ctx => (ctx as { runId: string }).runId === old.runId)
  })
  for (const { id, type } of [...other.frames]) if (type === 'invoke') other.result(id, 200, '{"logs":[]}')
  for (const runId of [old.runId, ...runIds]) await api.succeeded(runId)
})

test('its 30 s count from its last message, not from a heartbeat', async () => {
  const silent = await mute(unique('late'), 'late')
  await beat(silent)
  clock.jump(6000)
  const before = silent.count('heartbeat.ack')
  silent.send('heartbeat')
  await until(() => silent.count('heartbeat.ack') > before)
  clock.jump(4000)
  await until(() => silent.count('heartbeat') === 2)
  for (let i = 0; i < 2; i++) await beat(silent)
  clock.jump(5000)
  await api.get('/healthz')
  expect(silent.isOpen).toBe(true)
  clock.jump(2000)
  expect(await silent.closes()).toBe(4408)
})

test.each<[string, (client: ConnectClient) => void]>([
  ['a frame nobody knows', client => client.send('anything')],
  ['a heartbeat.ack', client => client.send('heartbeat.ack')],
  ['a ping of its own', client => client.ws.ping()],
])('%s is a sign of life, and dates the runner', async (_, live) => {
  const app = unique('lively')
  const client = await mute(app)
  for (let i = 0; i < 5; i++) {
    await beat(client)
    live(client)
    const now = new Date(clock.now()).toISOString()
    await until(async () => (await runnersOf(app))[0]?.lastSeenAt === now)
  }
  expect(client.isOpen).toBe(true)
})

test('a client that only answers pings stays', async () => {
  const app = unique('ponging')
  const client = await dialAs(url, { app })
  for (let i = 0; i < 5; i++) {
    await beat(client)
    const now = new Date(clock.now()).toISOString()
    await until(async () => (await runnersOf(app))[0]?.lastSeenAt === now)
  }
  expect(client.pings).toBeGreaterThanOrEqual(5)
})

test('a clock that jumps evicts no runner', async () => {
  const app = unique('asleep')
  const client = await mute(app)
  clock.jump(86_400_000)
  await client.next('heartbeat')
  expect(await runnersOf(app)).toHaveLength(1)
})

test('a runner whose event loop is blocked stays while it beats, without further invokes, until it is free', async () => {
  const app = unique('blocked')
  const client = await dial(url)
  ;(client.ws as unknown as { _autoPong: boolean })._autoPong = false
  client.send('hello', { protocolVersion: 1, instance: `${app}-0` })
  await client.register({ app, runner: 'r1', workflows: [app] })
  const beats = async () => {
    await beat(client)
    return fetch(`${url}/connect`, { headers: { 'x-engine-beats': `other-0, ${app}-0` } })
  }
  const first = await api.send({ name: app })
  const { id } = await client.next('invoke')
  for (let i = 0; i < 9; i++) expect((await beats()).status).toBe(204)
  const second = await api.send({ name: app })
  await beats()
  expect((await api.run(second.runId)).status).toBe('queued')
  expect(client.count('invoke')).toBe(1)
  client.result(id, 200, '{"logs":[]}')
  await api.succeeded(first.runId)
  client.result((await client.next('invoke')).id, 200, '{"logs":[]}')
  await api.succeeded(second.runId)
  // The engine drops a process that hangs with nothing under way.
  for (let i = 0; i < 3; i++) await beats()
  clock.jump(1000)
  expect(await client.closes()).toBe(4408)
})

test('an invoke of a runner that fell silent says why', async () => {
  const app = unique('silent')
  const client = await mute(app)
  const { runId } = await api.send({ name: app })
  await client.next('invoke')
  for (let i = 0; i < 3; i++) await beat(client)
  clock.jump(1000)
  await client.closes()
  const reason = await until(async () => (await api.run(runId)).waitingFor?.error)
  expect(reason).toContain(
    'its runner was silent for 31 s: its machine is down, or its event loop is blocked; CPU-bound work belongs in a worker thread',
  )
})

test('an invoke that misses its deadline behind a blocked event loop names the step', async () => {
  const app = unique('endless')
  const client = await dial(url)
  client.send('hello', { protocolVersion: 1, instance: `${app}-0` })
  const workflows = [{ name: app, timeouts: { invoke: 300 } }]
  client.send('runner.register', { protocolVersion: 1, app, runner: 'r1', workflows })
  await client.next('runner.registered')
  const { runId } = await api.send({ name: app })
  await client.next('invoke')
  const headers = { 'x-engine-beats': `${app}-0`, 'x-engine-beats-step': 'hash%20%C3%BC' }
  await fetch(`${url}/connect`, { headers })
  const reason = await until(async () => (await api.run(runId)).waitingFor?.error)
  expect(reason).toMatch(
    /no complete answer within 300 ms.*; the event loop of its runner has been blocked for \d s, since step "hash ü" began: CPU-bound work belongs in a worker thread/,
  )
})
