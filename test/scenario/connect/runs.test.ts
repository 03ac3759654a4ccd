// Runs on Connect runners: the same as over HTTP, and the features that sockets add (docs/wire-protocol.md#connect).

import { describe, expect, test } from 'vitest'
import {
  flow,
  gate,
  type Handler,
  openEngine,
  RunnerRecord,
  returned,
  run,
  scenario,
  unique,
  until,
} from '../../kit/index.ts'
import { type ConnectClient, dial, dialAs } from '../../kit/runner/connect-client.ts'

const MIB = 1024 * 1024
const { api, clock, engine, url } = await scenario()

const runnersOf = async (app: string) => (await api.get(`/runners?app=${app}`)).json as { runnerId: string }[]

/** A runner with one workflow of three steps that answers its invokes by itself. */
async function threeSteps(options: { runner?: string; handler?: Handler } = {}) {
  const name = unique('connected')
  const record = new RunnerRecord()
  const handler = options.handler ?? flow([run('one'), run('two'), run('three')])
  const dialIn = async () => {
    const client = await dial(url)
    client.serve({ [name]: handler }, record, options.runner)
    await client.register({ app: name, runner: options.runner, workflows: [name] })
    return client
  }
  return { name, record, dialIn, client: await dialIn() }
}

const queuedFor = (runId: string) =>
  until(async () => {
    const { json } = await api.get(`/runs/${runId}/why`)
    const { status, sentence } = json as { status: string; sentence: string }
    return status === 'queued' && sentence.startsWith('No runner')
  })

test('a run goes through its steps over the socket, with the exact body', async () => {
  const { name, record, client } = await threeSteps()
  const { json } = await api.post('/events', { name, data: { n: 1.5, s: 'ä€𝄞' } })
  const { runId } = json as { runId: string }
  await api.succeeded(runId)
  expect(record.names(runId)).toEqual(['one', 'two', 'three'])
  const [first] = record.of(runId)
  expect(first).toMatchObject({
    event: { name, data: { n: 1.5, s: 'ä€𝄞' } },
    ctx: { runId, workflow: name, attempt: 1 },
  })
  expect(client.frames.find(({ type }) => type === 'invoke')?.payload.deadlineMs).toBe(7_200_000)
})

test('the deadline is that of the workflow or of the engine, when one is set', async () => {
  const set = await openEngine({ env: { ENGINE_INVOKE_TIMEOUT: '7m' } })
  const client = await dial(set.url)
  const workflows = [{ name: 'set-plain' }, { name: 'set-own', timeouts: { invoke: '3m' } }]
  client.send('runner.register', { app: 'set', workflows })
  await client.next('runner.registered')
  for (const [name, ms] of [
    ['set-plain', 420_000],
    ['set-own', 180_000],
  ] as const) {
    await set.api.post('/events', { name })
    const { id, payload } = await client.next('invoke')
    expect(payload.deadlineMs).toBeGreaterThan(ms - 10_000)
    expect(payload.deadlineMs).toBeLessThanOrEqual(ms)
    client.result(id, 200, '{"logs":[]}')
  }
})

describe('a runner without an id', () => {
  test('is removed with its socket, and its workflows are not', async () => {
    const { name, client, dialIn } = await threeSteps()
    expect(await runnersOf(name)).toMatchObject([{ runnerId: expect.stringContaining(`conn://default/${name}/ses_`) }])
    client.ws.close()
    await until(async () => (await runnersOf(name)).length === 0)
    const { runId } = await api.send({ name })
    await queuedFor(runId)
    await dialIn()
    await api.succeeded(runId)
  })

  test('is removed at the next start when its engine died', async () => {
    const first = await openEngine({ onDisk: true })
    await dialAs(first.url, { app: 'left', workflows: ['left'] })
    await dialAs(first.url, { app: 'left', runner: 'named', workflows: ['left'] })
    await first.stop()
    const second = await openEngine({ storeFile: first.storeFile })
    expect((await second.api.get('/runners')).json).toEqual([])
    const pinned = await second.api.send({ name: 'left', runner: 'named' })
    const { json } = await second.api.get(`/runs/${pinned.runId}`)
    expect(json).toMatchObject({ status: 'queued' })
    const nobody = await second.api.send({ name: 'left', runner: 'ses_gone' })
    expect(await second.api.failed(nobody.runId)).toMatchObject({ status: 'failed' })
  })
})

describe('a pinned run', () => {
  test('waits while its runner is away, and goes on when it is back', async () => {
    const { name, client, dialIn, record } = await threeSteps({ runner: 'here' })
    client.ws.close()
    await until(async () => (await runnersOf(name)).length === 0)
    const { runId } = await api.send({ name, runner: 'here' })
    await queuedFor(runId)
    await dialAs(url, { app: name, runner: 'elsewhere', workflows: [name] })
    expect(record.passes(runId)).toBe(0)
    await dialIn()
    await api.succeeded(runId)
    expect(record.of(runId).every(({ receivedBy }) => receivedBy === 'here')).toBe(true)
  })
})

describe('routing', () => {
  test('prefers a runner with room', async () => {
    const name = unique('room')
    const full = await dialAs(url, { app: name, runner: 'full', workflows: [name], maxConcurrency: 1 })
    await api.send({ name })
    const busy = await full.next('invoke')
    const free = await dialAs(url, { app: name, runner: 'free', workflows: [name] })
    for (let i = 0; i < 10; i++) await api.send({ name })
    await until(() => free.count('invoke') === 10)
    expect(full.count('invoke')).toBe(1)
    for (const [client, frames] of [
      [full, [busy]],
      [free, free.frames],
    ] as const) {
      for (const { type, id } of frames) if (type === 'invoke') client.result(id, 200, '{"logs":[]}')
    }
  })

  test('counts the invokes of all sockets of a runner against its bound', async () => {
    const name = unique('bound')
    const terms = { app: name, runner: unique('runner'), workflows: [name], maxConcurrency: 2 }
    let now = 0
    let most = 0
    const together = gate()
    const handler: Handler = async () => {
      most = Math.max(most, ++now)
      if (now === 2) together.open()
      await together.opened
      await new Promise(resolve => setImmediate(resolve))
      now--
      return returned()
    }
    for (const client of [await dialAs(url, terms), await dialAs(url, terms)])
      client.serve({ [name]: handler }, new RunnerRecord())
    const sent = await Promise.all(Array.from({ length: 8 }, () => api.send({ name })))
    for (const { runId } of sent) await api.succeeded(runId)
    expect(most).toBe(2)
  })

  test('reaches Connect and HTTP runners of one app', async () => {
    const { name, record } = await threeSteps({ runner: 'socket' })
    await engine.runner({
      app: name,
      runner: 'http',
      record,
      workflows: { [name]: flow([run('one'), run('two')]) },
    })
    const runIds = await Promise.all(Array.from({ length: 12 }, async () => (await api.send({ name })).runId))
    for (const runId of runIds) await api.succeeded(runId)
    const receivers = new Set(record.invokes.map(({ receivedBy }) => receivedBy))
    expect([...receivers].sort()).toEqual(['http', 'socket'])
  })
})

test('a cancelled run cancels its invoke', async () => {
  const name = unique('cancelled')
  const client = await dialAs(url, { app: name, workflows: [name] })
  const { runId } = await api.send({ name })
  const { id } = await client.next('invoke')
  await api.post(`/runs/${runId}/cancel`)
  expect((await client.next('invoke.cancel')).text).toBe(`{"type":"invoke.cancel","id":"${id}","payload":{}}`)
  expect(await api.reaches(runId, 'cancelled')).toMatchObject({ status: 'cancelled' })
  client.result(id, 200, '{"data":"late","logs":[]}')
  expect((await client.next('result.ack')).text).toBe(`{"type":"result.ack","id":"${id}","payload":{}}`)
})

describe('a result', () => {
  const open = async () => {
    const name = unique('sized')
    const client = await dialAs(url, { app: name, workflows: [name] })
    const { runId } = await api.send({ name })
    return { client, runId, invoke: await client.next('invoke') }
  }

  test('of 1 MiB is accepted, and a larger one fails the run with a named error', async () => {
    const data = (bytes: number) => `{"logs":[],"data":"${'x'.repeat(bytes - 21)}"}`
    const fits = await open()
    fits.client.result(fits.invoke.id, 200, data(MIB))
    await api.succeeded(fits.runId)
    const larger = await open()
    larger.client.result(larger.invoke.id, 200, data(MIB + 1))
    expect(await api.failed(larger.runId)).toMatchObject({ error: { code: 'response_too_large' } })
    expect(larger.client.isOpen).toBe(true)
  })

  test('over 4 MiB closes the socket', async () => {
    const { client, invoke } = await open()
    client.result(invoke.id, 200, `"${'x'.repeat(4 * MIB)}"`)
    expect(await client.closes()).toBe(1009)
  })

  test.each<[string, unknown, string]>([
    ['invoke.result', { body: {} }, 'status'],
    ['invoke.result', { status: '200', body: { logs: [] } }, 'status'],
    ['invoke.result', { status: 999 }, 'status'],
    ['invoke.result', null, 'payload'],
    ['invoke.checkpoint', null, 'payload'],
    ['invoke.checkpoint', 'steps', 'payload'],
  ])('that cannot be read breaks its invoke, and the pass is repeated: %s %j', async (type, sent, field) => {
    const { client, invoke, runId } = await open()
    client.send(type, sent, invoke.id)
    const { payload, id } = await client.next('error')
    const message = expect.stringContaining(field)
    expect({ id, payload }).toMatchObject({ id: invoke.id, payload: { message } })
    await until(async () => {
      const { json } = await api.get(`/runs/${runId}`)
      return (json as { waitingFor?: { kind: string } }).waitingFor?.kind === 'retry'
    })
    clock.jump(1000)
    const repeated = await client.next('invoke')
    expect(repeated.payload).toMatchObject({ ctx: { runId, attempt: 2 } })
    client.result(repeated.id, 200, '{"logs":[]}')
    await api.succeeded(runId)
  })

  test('that can never be read fails the run, with the reason', async () => {
    const { client, invoke, runId } = await open()
    client.onFrame = ({ type, id }) => {
      if (type === 'invoke') client.send('invoke.result', { status: '200', body: {} }, id)
    }
    client.send('invoke.result', { status: '200', body: {} }, invoke.id)
    await until(async () => {
      clock.jump(5000)
      return ((await api.get(`/runs/${runId}`)).json as { status: string }).status === 'failed'
    })
    expect((await api.get(`/runs/${runId}`)).json).toMatchObject({
      error: { code: 'runner_unreachable', message: expect.stringContaining('payload.status must be') },
    })
  })

  test('that cannot be read changes nothing for an invoke of another runner', async () => {
    const { client, invoke, runId } = await open()
    const stranger = await dialAs(url, { app: unique('stranger') })
    stranger.send('invoke.result', null, invoke.id)
    await stranger.next('error')
    client.result(invoke.id, 200, '{"logs":[]}')
    await api.succeeded(runId)
    expect(client.count('invoke')).toBe(1)
  })

  test('of an unknown invoke is acknowledged, but not before the registration', async () => {
    const client = await dial(url)
    client.result('inv_unknown', 200, '{}')
    expect((await client.next('error')).payload).toMatchObject({ code: 'invalid_request' })
    await client.register({ app: unique('app') })
    client.result('inv_unknown', 200, '{}')
    expect(await client.next('result.ack')).toMatchObject({ id: 'inv_unknown' })
  })

  test('that is sent again over the next socket counts once', async () => {
    const name = unique('again')
    const who = { app: name, runner: 'r', workflows: [name] }
    const first = await dialAs(url, who)
    const { runId } = await api.send({ name })
    const { id } = await first.next('invoke')
    first.ws.terminate()
    const second = await dial(url)
    // Sent right after the registration, without waiting for its answer.
    second.send('runner.register', { ...who, workflows: [{ name }], underWay: [id] })
    second.result(id, 200, '{"data":1,"logs":[]}')
    second.result(id, 200, '{"data":2,"logs":[]}')
    expect((await second.next('result.ack')).id).toBe(id)
    expect((await second.next('result.ack')).id).toBe(id)
    await api.succeeded(runId)
    expect((await api.get(`/runs/${runId}`)).json).toMatchObject({ result: 1 })
    expect(second.count('invoke')).toBe(0)
  })
})

test('an engine that drains says so, still takes results, and closes with 1001', async () => {
  const draining = await openEngine({ env: { ENGINE_DRAIN_TIMEOUT: '20s' } })
  const client: ConnectClient = await dialAs(draining.url, {
    app: 'drain',
    runner: 'r',
    workflows: ['drain'],
  })
  const late = await dial(draining.url)
  await draining.api.send({ name: 'drain' })
  const { id } = await client.next('invoke')
  const stopped = draining.stop()
  await client.next('drain')
  late.send('runner.register', { app: 'late', workflows: [] })
  expect(await late.closes()).toBe(1001)
  client.result(id, 200, '{"logs":[]}')
  await client.next('result.ack')
  expect(await client.closes()).toBe(1001)
  await stopped
})
