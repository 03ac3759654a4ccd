// Sockets that send what no runner would send, do not read, or freeze. The engine refuses or cuts them at the bound they break,
// and no other socket is affected.

import { randomBytes } from 'node:crypto'
import { afterEach, describe, expect, test } from 'vitest'
import { RUN_LEASE_MS } from '../../packages/engine/src/services/pass/leases.ts'
import {
  flow,
  gate,
  type Handler,
  openDatabase,
  RunnerRecord,
  returned,
  run,
  scenario,
  unique,
  until,
} from '../kit/index.ts'
import { type ConnectClient, dial, dialAs } from '../kit/runner/connect-client.ts'

const MIB = 1024 * 1024
const { api, clock, engine, url } = await scenario({ onDisk: true })

const honest = unique('honest')
const neighbour = await dial(url)
neighbour.serve({ [honest]: flow([run('work')]) }, new RunnerRecord())
await neighbour.register({ app: honest, workflows: [honest] })

afterEach(async () => {
  const { runId } = await api.send({ name: honest })
  await api.succeeded(runId)
})

describe.each([false, true])('on a socket that is registered: %s', isRegistered => {
  const open = async (): Promise<ConnectClient> => {
    const client = await dial(url)
    if (isRegistered) await client.register({ app: unique('hostile') })
    return client
  }

  test.each<[string, string | Buffer, number]>([
    ['nothing', '', 4400],
    ['garbage', 'GET / HTTP/1.1\r\n\r\n', 4400],
    ['half a frame', '{"type":"hello","id":"1"', 4400],
    ['null', 'null', 4400],
    ['a list', '[]', 4400],
    ['no type', '{"id":"1"}', 4400],
    ['a type that is no text', '{"type":{},"id":"1"}', 4400],
    ['an id that is no text', '{"type":"heartbeat","id":[]}', 4400],
    ['an endless id', `{"type":"heartbeat","id":"${'x'.repeat(100_000)}"}`, 4400],
    ['deep JSON without an end', '['.repeat(100_000), 4400],
    ['bytes', randomBytes(1000), 4400],
    ['a huge frame', `{"type":"x","id":"1","payload":"${'x'.repeat(5 * MIB)}"}`, 1009],
  ])('%s closes it', async (_, sent, code) => {
    const client = await open()
    client.ws.send(sent)
    expect(await client.closes()).toBe(code)
    if (code === 4400) expect(client.count('error')).toBe(1)
  })

  test('text that is no UTF-8 closes it', async () => {
    const client = await open()
    client.ws.send(Buffer.from([0x7b, 0xff, 0xfe]), { binary: false })
    expect(await client.closes()).toBe(1007)
  })

  test('deep JSON in a frame of an unknown type does nothing', async () => {
    const client = await open()
    const deep = 100_000
    client.ws.send(`{"type":"unknown","id":"1","payload":${'['.repeat(deep)}${']'.repeat(deep)}}`)
    client.send('heartbeat')
    await client.next('heartbeat.ack')
    expect(client.isOpen).toBe(true)
  })

  test.each(['runner.register', 'invoke.result', 'invoke.checkpoint'])(
    'a %s with any payload is refused, and it stays',
    async type => {
      const client = await open()
      const deep = `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`
      const payloads = ['null', '7', '"x"', '[]', '{"status":"200"}', deep]
      for (const payload of payloads) client.ws.send(`{"type":"${type}","id":"1","payload":${payload}}`)
      client.send('heartbeat')
      await client.next('heartbeat.ack')
      expect(client.isOpen).toBe(true)
    },
  )

  test('10,000 frames of unknown types are ignored', async () => {
    const client = await open()
    for (let i = 0; i < 10_000; i++) client.send(i % 2 === 0 ? `type-${i}` : '__proto__', { i })
    client.send('heartbeat')
    await client.next('heartbeat.ack')
    expect(client.count('error')).toBe(0)
  })

  test('500 registrations in a row leave one runner', async () => {
    const app = unique('flood')
    const client = await dial(url)
    for (let i = 0; i < 500; i++) client.send('runner.register', { app, workflows: [] })
    await until(() => client.count('runner.registered') === 500)
    expect((await api.get(`/runners?app=${app}`)).json).toHaveLength(1)
  })
})

test('results of invokes that were never sent to the runner change nothing', async () => {
  const name = unique('guessed')
  const rightful = await dialAs(url, { app: name, runner: 'rightful', workflows: [name] })
  const { runId } = await api.send({ name, runner: 'rightful' })
  const { id } = await rightful.next('invoke')
  const thief = await dialAs(url, { app: name, runner: 'thief' })
  thief.send('invoke.checkpoint', { seq: 1, opcodes: [] }, id)
  expect(await thief.next('invoke.cancel')).toMatchObject({ id })
  thief.result(id, 200, '{"data":"stolen","logs":[]}')
  await thief.next('result.ack')
  rightful.result(id, 200, '{"data":"right","logs":[]}')
  expect(await api.succeeded(runId)).toMatchObject({ result: 'right' })
})

test('a socket that sends requests and does not read the answers is cut', async () => {
  const client = await dialAs(url, { app: unique('deaf') })
  client.ws.pause()
  const id = 'x'.repeat(250)
  const frame = JSON.stringify({ type: 'heartbeat', id })
  // Sent in portions, as the socket accepts them, until the engine cuts it.
  await until(() => {
    if (client.ws.bufferedAmount < MIB) for (let i = 0; i < 20_000; i++) client.ws.send(frame)
    return client.ws.readyState !== client.ws.OPEN || client.ws.bufferedAmount > 64 * MIB || isCut(client)
  })
  client.ws.resume()
  await client.closes()
})

/** The engine resets the connection. The paused reader notices that only as a failed write. */
function isCut(client: ConnectClient): boolean {
  const { _socket: socket } = client.ws as unknown as { _socket: { destroyed: boolean } | null }
  return socket === null || socket.destroyed
}

test('a runner that reads slowly is sent no more than it reads', async () => {
  const name = unique('slow')
  const client = await dialAs(url, { app: name, workflows: [name] })
  client.ws.pause()
  const data = 'x'.repeat(900_000)
  const runIds = await Promise.all(Array.from({ length: 30 }, async () => (await api.send({ name, data })).runId))
  client.onFrame = ({ type, id }) => {
    if (type === 'invoke') client.result(id, 200, '{"logs":[]}')
  }
  client.ws.resume()
  for (const runId of runIds) await api.succeeded(runId)
  expect(client.count('invoke')).toBe(30)
})

test('a half-open socket holds nothing up: its invokes go on where the runner dials again', async () => {
  const name = unique('half')
  const who = { app: name, runner: 'r', workflows: [name] }
  const halfOpen = await dialAs(url, who)
  const { runId } = await api.send({ name })
  const { id } = await halfOpen.next('invoke')
  halfOpen.ws.pause()
  const again = await dialAs(url, { ...who, underWay: [id] })
  const database = await openDatabase(engine.storeFile)
  const lease = database.prepare('SELECT available_at AS until FROM runs WHERE id = ?')
  for (let i = 0; i < 5; i++) {
    const before = again.count('heartbeat')
    clock.jump(10_000)
    await until(() => again.count('heartbeat') > before)
    // A lease that is not extended before the next jump expires during the jump, and the pass is sent again.
    const isExtended = () => (lease.all(runId) as { until: number }[])[0]!.until >= clock.now() + RUN_LEASE_MS
    await until(isExtended)
    await api.get('/healthz')
  }
  // The first socket has been evicted, and its invokes were not lost.
  again.result(id, 200, '{"data":"on the second","logs":[]}')
  expect(await api.succeeded(runId)).toMatchObject({ result: 'on the second' })
  expect(again.count('invoke')).toBe(0)
  halfOpen.ws.resume()
  await halfOpen.closes()
})

test('a runner that freezes loses its runs to others, and its late answers are ignored', async () => {
  const name = unique('frozen')
  const frozen = await dialAs(url, { app: name, runner: 'frozen', workflows: [name] })
  const { runId } = await api.send({ name })
  const { id } = await frozen.next('invoke')
  frozen.ws.pause()
  const other = await dialAs(url, { app: name, runner: 'other', workflows: [name] })
  // Leases expire during such jumps too, so the other runner may be invoked more than once.
  const asked = gate()
  const answered = gate()
  const handler: Handler = async () => {
    asked.open()
    await answered.opened
    return returned('in time')
  }
  other.serve({ [name]: handler }, new RunnerRecord())
  await until(() => {
    if (other.count('invoke') > 0) return true
    clock.jump(10_000)
    return false
  })
  await asked.opened
  frozen.ws.resume()
  frozen.result(id, 200, '{"data":"late","logs":[]}')
  await frozen.closes()
  answered.open()
  expect(await api.succeeded(runId)).toMatchObject({ result: 'in time' })
})
