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
  // First the grace of the lost socket, then the delay before the pass is repeated.
  await until(async () => {
    clock.jump(1000)
    // The request gives the sockets a turn: `other` must answer its heartbeats between the jumps.
    await api.run(runId)
    return other.count('invoke') > 0
  })
  const { id, payload } = await other.next('invoke')
  expect(payload).toMatchObject({ ctx: { runId } })
  other.result(id, 200, '{"logs":[]}')
  await api.succeeded(runId)
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
  ['a pong', client => client.ws.pong()],
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
