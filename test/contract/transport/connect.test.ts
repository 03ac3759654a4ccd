import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import pino from 'pino'
import { expect, it } from 'vitest'
import { systemClock } from '../../../packages/engine/src/adapters/clock/system.ts'
import { ConnectTransport } from '../../../packages/engine/src/adapters/connect/transport.ts'
import { readLimits } from '../../../packages/engine/src/config/limits.ts'
import { connectUrl } from '../../../packages/engine/src/domain/model/connect-url.ts'
import { KeyGuesses } from '../../../packages/engine/src/http/access/key-guesses.ts'
import { ConnectHub } from '../../../packages/engine/src/http/connect/hub.ts'
import type { ConnectLimits } from '../../../packages/engine/src/http/connect/limits.ts'
import type { ConnectDeps } from '../../../packages/engine/src/http/connect/peer.ts'
import type { InvokeReply } from '../../../packages/engine/src/ports/transport.ts'
import { KeyRing } from '../../../packages/engine/src/services/admin/keys.ts'
import { until } from '../../kit/index.ts'
import { type ClientFrame, ConnectClient, dial, dialAs } from '../../kit/runner/connect-client.ts'
import { type RunnerAct, transportContract } from './transport-contract.ts'

const URL = connectUrl('default', 'app', 'runner')
const REGISTRATION = { app: 'app', runner: 'runner' }

/** The hub on its own server, with a registry that accepts every runner. */
async function openHub(limits: Partial<ConnectLimits> = {}) {
  const roomChanges: string[] = []
  const transport = new ConnectTransport({
    clock: systemClock,
    closeGraceMs: 200,
    lostGraceMs: 300,
    onRoomChange: url => void roomChanges.push(url),
  })
  const deps: ConnectDeps = {
    connections: transport,
    anotherPass: { requestFor: async () => {} },
    registry: {
      async register(_, { runner = '' }, onRegistered) {
        const heartbeat = { heartbeatMs: 30_000, staleAfterMs: 90_000 }
        const reply = {
          ok: true,
          protocolVersion: 1,
          runnerId: runner,
          workflows: 0,
          ...heartbeat,
          warnings: [],
        } as const
        onRegistered?.({ ...reply, warnings: [] })
        return { ...reply, warnings: [] }
      },
      forget: async () => {},
    },
    keys: new KeyRing({ fixed: [], loopback: true }),
    runAccess: { read: () => expect.unreachable('no runner has a run token') },
    corsOrigins: [],
    openLimits: readLimits((_, fallback) => fallback),
    clock: systemClock,
    log: pino({ level: 'silent' }),
    proof: () => 'v0',
    messages: { request: (_, onGranted) => onGranted(() => {}), take: () => () => {} },
    guesses: new KeyGuesses({ clock: systemClock, log: pino({ level: 'silent' }) }),
  }
  const hub = new ConnectHub(deps, limits)
  const server = createServer()
  hub.listen(server)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const close = async () => {
    await transport.close()
    await hub.close()
    await new Promise(resolve => server.close(resolve))
  }
  return { transport, url, roomChanges, close }
}

/** The invoke request as passed to the transport, without the deadline that the transport adds. */
function bodyOf({ text }: ClientFrame): string {
  return `{${text.replace(/^.*?"payload":{"deadlineMs":\d+,?/, '').slice(0, -1)}`
}

transportContract('connect', async () => {
  const { transport, url, close } = await openHub()
  let act: RunnerAct | ((body: string) => RunnerAct) = 'hang'
  const clients: ConnectClient[] = []
  const count = (type: string) => clients.reduce((sum, client) => sum + client.count(type), 0)
  const answer = (client: ConnectClient, frame: ClientFrame) => {
    if (frame.type !== 'invoke') return
    const now = typeof act === 'function' ? act(bodyOf(frame)) : act
    if (now === 'vanish') {
      client.ws.terminate()
      void connect([])
    } else if (now !== 'hang') client.result(frame.id, now.status, JSON.stringify(now.body))
  }
  const connect = async (underWay?: string[]) => {
    const client = await dial(url)
    clients.push(client)
    client.onFrame = frame => answer(client, frame)
    await client.register({ ...REGISTRATION, ...(underWay ? { underWay } : {}) })
  }
  await connect()
  return {
    transport,
    url: URL,
    deadUrl: connectUrl('default', 'app', 'nobody'),
    act: next => {
      act = next
    },
    async abandoned(n) {
      await until(() => count('invoke.cancel') >= n)
    },
    async received(n) {
      await until(() => count('invoke') >= n)
      expect(count('invoke')).toBe(n)
    },
    close,
  }
})

async function open(registration: Record<string, unknown> = {}) {
  const { transport, url, roomChanges, close } = await openHub()
  const client = await dialAs(url, { ...REGISTRATION, ...registration })
  const controller = new AbortController()
  const invoke = (call: Partial<Parameters<ConnectTransport['invoke']>[0]> = {}): Promise<InvokeReply> =>
    transport.invoke({ url: URL, body: '{}', timeoutMs: 10_000, signal: controller.signal, ...call })
  return { transport, url, roomChanges, client, invoke, controller, close }
}

it('keeps the JSON body of a result unchanged', async () => {
  const { client, invoke, close } = await open()
  const reply = invoke()
  const { id } = await client.next('invoke')
  client.ws.send(
    ` { "payload" : {"body": {"a" : 1.50, "b":[1e400,"\\ud800"] } , "status":206}, "id":"${id}","type":"invoke.result"}`,
  )
  expect(await reply).toEqual({ kind: 'answered', status: 206, body: '{"a" : 1.50, "b":[1e400,"\\ud800"] }' })
  expect(await client.next('result.ack')).toMatchObject({ id })
  await close()
})

it('refuses invokes without room, and reports when there is room', async () => {
  const { client, transport, invoke, roomChanges, close } = await open({ maxConcurrency: 1 })
  expect(transport.room(URL)).toBe(1)
  const first = invoke()
  expect(transport.room(URL)).toBe(0)
  expect(await invoke()).toEqual({ kind: 'refused', message: 'the runner has no free capacity', isFull: true })
  const { id } = await client.next('invoke')
  roomChanges.length = 0
  client.result(id, 200, '{}')
  await first
  expect(roomChanges).toEqual([URL])
  expect(transport.room(URL)).toBe(1)
  await client.register({ ...REGISTRATION, maxConcurrency: 3 })
  expect(transport.room(URL)).toBe(3)
  await client.register(REGISTRATION)
  expect(transport.room(URL)).toBeUndefined()
  expect(roomChanges).toHaveLength(3)
  await close()
})

it('sends no further invoke on a socket that its runner leaves', async () => {
  const { client, transport, invoke, url, close } = await open({ maxConcurrency: 5 })
  const first = invoke()
  const { id } = await client.next('invoke')
  await client.register({ ...REGISTRATION, maxConcurrency: 5, leaving: true })
  client.result(id, 206, '{"opcodes":[]}')
  await first
  expect(transport.room(URL)).toBe(0)
  expect(await invoke()).toMatchObject({ kind: 'refused', isFull: true })
  const successor = await dialAs(url, { ...REGISTRATION, maxConcurrency: 5 })
  const second = invoke()
  successor.result((await successor.next('invoke')).id, 200, '{}')
  expect(await second).toMatchObject({ kind: 'answered' })
  expect(client.count('invoke')).toBe(1)
  await close()
})

it('counts the calls of a lost socket, and waits for the runner to come back', async () => {
  const { client, invoke, transport, url, close } = await open({ maxConcurrency: 1 })
  const first = invoke()
  const { id } = await client.next('invoke')
  client.ws.terminate()
  await until(() => transport.room(URL) === 0 && !transport.reaches(URL))
  expect(await invoke()).toMatchObject({ kind: 'refused' })
  const back = await dialAs(url, { ...REGISTRATION, maxConcurrency: 1, underWay: [id, 'inv_gone'] })
  expect(transport.room(URL)).toBe(0)
  expect((await back.next('invoke.cancel')).id).toBe('inv_gone')
  back.result(id, 200, '{"back":true}')
  expect(await first).toEqual({ kind: 'answered', status: 200, body: '{"back":true}' })
  await close()
})

it('knows that the same process, which came back without a call, is alive', async () => {
  const { client, transport, invoke, url, close } = await open()
  client.ws.terminate()
  await until(() => !transport.reaches(URL))
  const named = async (registration: object) => {
    const socket = await dial(url)
    socket.send('hello', { protocolVersion: 1, instance: 'laptop' })
    await socket.register({ ...REGISTRATION, ...registration })
    return socket
  }
  const first = await named({})
  const reply = invoke()
  await first.next('invoke')
  first.ws.terminate()
  await named({ underWay: [] })
  expect(await reply).toEqual({ kind: 'broken', message: 'the runner reconnected and no longer works on this call' })
  await close()
})

it('breaks calls that the runner came back without, and calls whose runner did not come back', async () => {
  const { client, invoke, url, close } = await open()
  const first = invoke()
  await client.next('invoke')
  client.ws.terminate()
  const back = await dialAs(url, { ...REGISTRATION, underWay: [] })
  expect(await first).toMatchObject({ kind: 'broken' })
  const second = invoke()
  await back.next('invoke')
  back.ws.terminate()
  expect(await second).toMatchObject({ kind: 'broken', message: expect.stringContaining('lost') })
  await close()
})

it('takes a result on another socket of the runner, and none from another runner', async () => {
  const { client, invoke, url, close } = await open()
  const reply = invoke()
  const { id } = await client.next('invoke')
  const other = await dialAs(url, { app: 'app', runner: 'stranger' })
  other.result(id, 200, '{"stranger":true}')
  await other.next('result.ack')
  const second = await dialAs(url, REGISTRATION)
  second.result(id, 200, '{"second":true}')
  expect(await reply).toMatchObject({ body: '{"second":true}' })
  second.result(id, 200, '{"again":true}')
  await second.next('result.ack')
  await second.next('result.ack')
  await close()
})

it('stores checkpoints one at a time, in order, and takes the result after the last', async () => {
  const { client, invoke, close } = await open()
  const stored: string[] = []
  let atOnce = 0
  const onCheckpoint = async (checkpoint: string) => {
    expect(++atOnce).toBe(1)
    await new Promise(resolve => setImmediate(resolve))
    atOnce--
    stored.push(checkpoint)
    return `{"seq":${stored.length},"steps":[]}`
  }
  const reply = invoke({ onCheckpoint })
  const { id } = await client.next('invoke')
  const payloads = [1, 2, 3].map(seq => `{"seq": ${seq}, "opcodes":[{"data":1.0}]}`)
  for (const payload of payloads) client.ws.send(`{"type":"invoke.checkpoint","id":"${id}","payload":${payload}}`)
  client.result(id, 200, '{}')
  expect(await reply).toMatchObject({ kind: 'answered' })
  expect(stored).toEqual(payloads)
  for (const seq of [1, 2, 3]) expect((await client.next('checkpoint.ack')).payload).toEqual({ seq, steps: [] })
  await close()
})

it.each([
  ['that is obsolete', async () => undefined, 'aborted'],
  ['that cannot be stored', () => Promise.reject(new Error('full')), 'broken'],
  ['of an invoke that takes none', undefined, 'broken'],
])('cancels the invoke at a checkpoint %s', async (_, onCheckpoint, kind) => {
  const { client, invoke, close } = await open()
  const reply = invoke(onCheckpoint ? { onCheckpoint } : {})
  const { id } = await client.next('invoke')
  client.send('invoke.checkpoint', { seq: 1, opcodes: [] }, id)
  expect(await reply).toMatchObject({ kind })
  expect(await client.next('invoke.cancel')).toMatchObject({ id })
  client.send('invoke.checkpoint', { seq: 2, opcodes: [] }, id)
  expect(await client.next('invoke.cancel')).toMatchObject({ id })
  await close()
})

it('takes no checkpoint over 1 MiB', async () => {
  const { client, invoke, close } = await open()
  const reply = invoke({ onCheckpoint: async () => '{}' })
  const { id } = await client.next('invoke')
  client.send('invoke.checkpoint', { seq: 1, opcodes: [], logs: 'x'.repeat(1_048_576) }, id)
  expect(await reply).toEqual({ kind: 'tooLarge' })
  await close()
})

it('restarts the deadline at a checkpoint', async () => {
  const { client, invoke, close } = await open()
  const started = performance.now()
  const reply = invoke({ timeoutMs: 300, onCheckpoint: async () => '{}' })
  const { id } = await client.next('invoke')
  await until(() => performance.now() - started > 200)
  client.send('invoke.checkpoint', { seq: 1, opcodes: [] }, id)
  expect(await reply).toMatchObject({ kind: 'broken' })
  expect(performance.now() - started).toBeGreaterThan(490)
  await close()
})

it('sends to the socket with the fewest calls, in turn among equals', async () => {
  const { client, invoke, url, close } = await open()
  const second = await dialAs(url, REGISTRATION)
  const replies = Array.from({ length: 6 }, () => invoke())
  await until(() => client.count('invoke') === 3 && second.count('invoke') === 3)
  for (const one of [client, second]) {
    for (const { id } of one.frames.filter(({ type }) => type === 'invoke')) one.result(id, 200, '{}')
  }
  await Promise.all(replies)
  await close()
})

it('moves the calls of a socket to the one that replaces it', async () => {
  const { url, transport, invoke, close } = await open({ maxConcurrency: 1 })
  const busy = invoke()
  const named = async () => {
    const client = await dial(url)
    client.send('hello', { protocolVersion: 1, instance: 'laptop' })
    await client.register(REGISTRATION)
    return client
  }
  const older = await named()
  const reply = invoke()
  const { id } = await older.next('invoke')
  const newer = await named()
  expect(await older.closes()).toBe(4409)
  newer.result(id, 200, '{"moved":true}')
  expect(await reply).toMatchObject({ body: '{"moved":true}' })
  expect(transport.reaches(URL)).toBe(true)
  await close()
  expect(await busy).toMatchObject({ kind: 'broken' })
})

it('keeps the 64 newest sockets of a runner', async () => {
  const { client, url, close } = await open()
  for (let i = 0; i < 64; i++) await dialAs(url, REGISTRATION)
  expect(await client.closes()).toBe(4409)
  await close()
})

it('accepts a bounded number of sockets, and answers further upgrades with 503', async () => {
  const { url, close } = await openHub({ socketsMax: 2 })
  const [first] = [await dial(url), await dialAs(url, REGISTRATION)]
  const refused = new ConnectClient(url)
  await until(() => refused.refused === 503)
  first.ws.close()
  await first.closes()
  await until(async () => {
    const again = new ConnectClient(url)
    await until(() => again.isOpen || again.refused)
    return again.isOpen
  })
  await close()
})
