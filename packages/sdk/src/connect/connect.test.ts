// The Connect runner with a scripted engine over real sockets: handshake and passes. proof.test.ts tests the signing key.

import type { Socket } from 'node:net'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { until } from '../../../../test/kit/until.ts'
import { createWorkflow } from '../workflow/create-workflow.ts'
import type { ScriptedEngine, ScriptedEngineOptions } from './engine.testkit.ts'
import { type ConnectOptions, connect } from './index.ts'
import { open, registered, resultOf, start } from './runner.testkit.ts'

afterEach(() => vi.unstubAllEnvs())

/** The `maxConcurrency` that each socket registered. */
function bounds({ connections }: ScriptedEngine): unknown[] {
  return connections.map(one => one.of('runner.register')[0]?.payload.maxConcurrency).sort()
}

describe('the handshake', () => {
  test('sends the key, the version, and a registration without a URL', async () => {
    const engine = await open()
    vi.stubEnv('ENGINE_REGION', 'eu')
    const runner = start(engine, { apiKey: 'rk_1', maxConcurrency: 7 })
    const { logged } = runner
    expect(runner.connected).toBe(false)
    expect(await runner.ready).toMatchObject({ ok: true, runnerId: 'r1' })
    expect(runner.connected).toBe(true)
    const { headers, frames } = engine.last
    expect(headers).toMatchObject({
      authorization: 'Bearer rk_1',
      'sec-websocket-protocol': 'engine.connect.v0',
    })
    expect(frames.map(({ type }) => type)).toEqual(['hello', 'runner.register'])
    expect(frames[0]?.payload).toEqual({ protocolVersion: 1, instance: expect.stringMatching(/-0$/) })
    expect(frames[1]?.payload).toMatchObject({
      app: 'shop',
      runner: 'r1',
      region: 'eu',
      framework: 'connect',
      language: 'typescript',
      protocolVersion: 1,
      maxConcurrency: 7,
      workflows: [{ name: 'echo' }, { name: 'steps' }, { name: 'held' }],
    })
    expect(frames[1]?.payload).not.toHaveProperty('url')
    expect(frames[1]?.payload).not.toHaveProperty('underWay')
    expect(logged).toEqual(['info Connected to ENGINE as r1: 1 workflows'])
  })

  test('several sockets have different instances, and the concurrency of their runner', async () => {
    const engine = await open()
    const { ready, logged } = start(engine, { sockets: 3, maxConcurrency: 7 })
    await ready
    await registered(engine, 3)
    const names = engine.connections.map(connection => connection.of('hello')[0]?.payload.instance)
    expect(new Set(names).size).toBe(3)
    expect(bounds(engine)).toEqual([7, 7, 7])
    expect(logged).toHaveLength(1)
  })

  test('without a runner id each socket registers its share of the concurrency', async () => {
    const engine = await open()
    const { ready } = start(engine, { runner: undefined, sockets: 3, maxConcurrency: 7 })
    await ready
    await registered(engine, 3)
    expect(bounds(engine)).toEqual([2, 2, 3])
  })

  test('a refused key rejects ready with the reason, is reported once, and is retried', async () => {
    let refusals = 0
    const engine = await open({
      onFrame: (connection, { type }) => {
        if (type !== 'hello' || refusals++ > 1) return false
        connection.send('error', '', { code: 'unauthorized', message: 'no such key' })
        connection.socket.close(4401)
        return true
      },
    })
    const errors: string[] = []
    const runner = start(engine, { onError: ({ code }) => errors.push(code) })
    const { logged } = runner
    await expect(runner.ready).rejects.toMatchObject({
      code: 'unauthorized',
      status: 401,
      message: 'no such key. Check ENGINE_API_KEY: it must be a key of the engine, which `perdure keys create` makes',
    })
    await until(() => runner.connected)
    expect(logged).toEqual([
      expect.stringContaining('error ENGINE refuses this runner: no such key. Check ENGINE_API_KEY'),
      'info Connected to ENGINE as r1: 1 workflows',
    ])
    expect(errors).toEqual(['unauthorized'])
  })

  test.each([
    ['a different version', 'hello', 'protocol_mismatch', 4400],
    ['an invalid registration', 'runner.register', 'invalid_request', undefined],
  ])('%s rejects ready', async (_, frame, code, closeCode) => {
    const engine = await open({
      onFrame: (connection, { type, id }) => {
        if (type !== frame) return false
        connection.send('error', id, { code, message: 'will not do' })
        if (closeCode !== undefined) connection.socket.close(closeCode)
        return true
      },
    })
    await expect(start(engine).ready).rejects.toMatchObject({ code, status: 400, message: 'will not do' })
  })

  test('an address without a WebSocket rejects ready with the status of its answer', async () => {
    const engine = await open()
    const { ready, logged } = start(engine, { engineUrl: `${engine.url}/elsewhere` })
    await expect(ready).rejects.toMatchObject({ code: 'http_400', status: 400 })
    expect(logged).toEqual([
      expect.stringMatching(
        /^error ENGINE\/elsewhere refuses this runner: The WebSocket handshake was not accepted: \S+\/elsewhere\S* answered 400: Bad Request\. Is this the engine\? Check ENGINE_URL$/,
      ),
    ])
  })

  test('invalid options throw at once', async () => {
    const given = (options: Partial<ConnectOptions>) => () =>
      connect({ app: 'a', workflows: [createWorkflow({ name: 'w' }, () => 1)], handleSignals: false, ...options })
    expect(given({ sockets: 17 })).toThrow('sockets must be a whole number from 1 to 16, not 17')
    expect(given({ maxConcurrency: 0 })).toThrow('maxConcurrency must be a whole number from 1 to 100000, not 0')
    expect(given({ engineUrl: 'nowhere' })).toThrow('is not an http or https URL')
  })
})

describe('passes', () => {
  test('answer with status and body, with the id of their invoke', async () => {
    const engine = await open()
    await start(engine).ready
    engine.last.invoke('i1', 'echo')
    engine.last.invoke('i2', 'nobody')
    expect((await resultOf(engine.last, 'i1')).payload).toEqual({
      status: 200,
      body: { data: { id: 'i1' }, logs: [] },
    })
    expect((await resultOf(engine.last, 'i2')).payload).toMatchObject({
      status: 404,
      body: { error: { message: 'This runner has no workflow "nobody"' } },
    })
  })

  test('continue after a finished step once the engine has stored it', async () => {
    const engine = await open()
    await start(engine).ready
    engine.last.invoke('i1', 'steps')
    expect((await resultOf(engine.last, 'i1')).payload).toMatchObject({ status: 200, body: { data: 'done' } })
    const checkpoints = engine.last.of('invoke.checkpoint')
    expect(checkpoints.map(({ id, payload }) => [id, payload.seq, payload.opcodes[0].name])).toEqual([
      ['i1', 1, 'one'],
      ['i1', 2, 'two'],
    ])
  })

  test.each<[string, ScriptedEngineOptions, Partial<ConnectOptions>]>([
    ['an engine without checkpoints', { checkpoints: false }, {}],
    ['a runner without checkpoints', {}, { checkpoints: false }],
  ])('end at a finished step with %s', async (_, engineOptions, options) => {
    const engine = await open(engineOptions)
    await start(engine, options).ready
    engine.last.invoke('i1', 'steps')
    expect((await resultOf(engine.last, 'i1')).payload).toMatchObject({
      status: 206,
      body: { opcodes: [{ name: 'one' }] },
    })
    expect(engine.last.of('invoke.checkpoint')).toEqual([])
  })
})

test('a cancelled pass of an engine that cleans up is answered with what succeeds', async () => {
  const engine = await open()
  const { ready, started, release } = start(engine)
  await ready
  engine.last.invoke('i1', 'held', {}, { features: ['cleanup'] })
  await until(() => started.includes('held'))
  engine.last.send('invoke.cancel', 'i1')
  await until(() => started.includes('aborted: The engine cancelled the invoke'))
  expect(engine.last.of('invoke.result')).toEqual([])
  release()
  expect((await resultOf(engine.last, 'i1')).payload).toMatchObject({
    status: 206,
    body: { opcodes: [{ op: 'StepRun', name: 'wait' }] },
  })
})

test('an invoke that is cancelled before its runner has read it runs nothing: the engine has sent it elsewhere', async () => {
  const engine = await open()
  const runner = start(engine)
  await runner.ready
  const connection = await registered(engine)
  // Both frames wait for the event loop, as behind a long computation.
  const { _socket: tcp } = connection.socket as unknown as { _socket: Socket }
  tcp.cork()
  connection.invoke('i1', 'steps')
  connection.send('invoke.cancel', 'i1')
  connection.invoke('i2', 'echo')
  tcp.uncork()
  await resultOf(connection, 'i2')
  expect(runner.started).toEqual([])
})
