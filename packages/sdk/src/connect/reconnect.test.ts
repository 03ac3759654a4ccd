// The Connect runner with a scripted engine over real sockets: liveness, lost connections, and its end.

import { describe, expect, test } from 'vitest'
import { until } from '../../../../test/kit/until.ts'
import { createWorkflow } from '../workflow/create-workflow.ts'
import { open, registered, resultOf, start } from './runner.testkit.ts'

describe('liveness', () => {
  test('a quiet runner sends heartbeats and answers those of the engine', async () => {
    const engine = await open({ heartbeatMs: 20 })
    await start(engine).ready
    engine.last.send('heartbeat', 'h1')
    await until(() => engine.last.of('heartbeat').length > 2)
    expect(engine.last.of('heartbeat.ack')).toMatchObject([{ id: 'h1' }])
  })

  test('a silent engine makes the runner open a new connection', async () => {
    const engine = await open({
      heartbeatMs: 20,
      onFrame: (connection, { type }) => connection === engine.connections[0] && type === 'heartbeat',
    })
    const { ready, logged } = start(engine)
    await ready
    const connection = await registered(engine, 2)
    expect(engine.connections[0]?.closed).toMatchObject({ code: 1006 })
    expect(logged[1]).toBe('warn No connection to ENGINE, retrying: The engine is silent')
    // The engine answers on the second connection, which therefore stays.
    await until(() => connection.of('heartbeat').length > 8)
    expect(engine.connections).toHaveLength(2)
  })
})

test('large results wait in their order until the engine reads, and signs of life go in between', async () => {
  const engine = await open()
  const text = 'x'.repeat(900_000)
  let made = 0
  const large = createWorkflow({ name: 'large', triggers: { event: 'e' } }, () => {
    made++
    return text
  })
  const runner = start(engine, { workflows: [large] })
  await runner.ready
  const { last: connection } = engine
  connection.socket.pause()
  const ids = Array.from({ length: 40 }, (_, i) => `i${i}`)
  for (const id of ids) connection.invoke(id, 'large')
  connection.send('heartbeat', 'h1')
  await until(() => made === ids.length)
  // Some turns of the event loop later all results are on their way.
  for (let i = 0; i < 100; i++) await new Promise(setImmediate)
  connection.socket.resume()
  await until(() => connection.of('invoke.result').length === ids.length, { what: 'all results' })
  expect(connection.of('invoke.result').map(({ id }) => id)).toEqual(ids)
  const [types, alive] = [connection.frames.map(({ type }) => type), connection.of('heartbeat.ack')]
  expect(alive).toMatchObject([{ id: 'h1' }])
  expect(types.lastIndexOf('invoke.result') - types.indexOf('heartbeat.ack')).toBeGreaterThan(20)
  expect(engine.connections).toHaveLength(1)
})

describe('a lost connection', () => {
  test('is opened again without a limit, also if the engine is away at first', async () => {
    const away = await open()
    await away.close()
    const runner = start(away)
    const { logged } = runner
    await until(() => logged.length > 0)
    expect(logged[0]).toMatch(/^warn No connection to ENGINE, retrying: .*ECONNREFUSED/)
    await away.open()
    expect(await runner.ready).toMatchObject({ ok: true })
    await away.close()
    await until(() => !runner.connected)
    await away.open()
    await until(() => runner.connected)
    expect(logged).toHaveLength(4)
  })

  test('passes continue; the registration lists them, and the engine gets their results when it is back', async () => {
    const engine = await open()
    const runner = start(engine)
    const { started, release } = runner
    await runner.ready
    engine.last.invoke('i1', 'held')
    await until(() => started.includes('held'))
    engine.last.socket.terminate()
    const second = await registered(engine, 2)
    expect(second.of('runner.register')[0]?.payload.underWay).toEqual(['i1'])
    expect(second.of('hello')[0]?.payload).toEqual(engine.connections[0]?.of('hello')[0]?.payload)
    await engine.close()
    await until(() => !runner.connected)
    release()
    await engine.open()
    const third = await registered(engine, 3)
    expect(third.of('runner.register')[0]?.payload.underWay).toEqual(['i1'])
    expect((await resultOf(third, 'i1')).payload).toMatchObject({ status: 200 })
  })

  test('a result is sent again until it is acknowledged', async () => {
    const engine = await open({
      onFrame: (connection, { type }) => {
        if (type !== 'invoke.result' || connection !== engine.connections[0]) return false
        connection.socket.terminate()
        return true
      },
    })
    await start(engine).ready
    engine.last.invoke('i1', 'echo')
    const second = await registered(engine, 2)
    expect((await resultOf(second, 'i1')).payload).toMatchObject({ status: 200 })
    second.socket.terminate()
    const third = await registered(engine, 3)
    third.invoke('i2', 'echo')
    await resultOf(third, 'i2')
    expect(third.of('runner.register')[0]?.payload.underWay).toEqual([])
    expect(third.of('invoke.result').map(({ id }) => id)).toEqual(['i2'])
  })

  test('checkpoints are sent again in their order, and the pass continues', async () => {
    const engine = await open({
      onFrame: (connection, { type }) => {
        if (type !== 'invoke.checkpoint' || connection !== engine.connections[0]) return false
        connection.socket.terminate()
        return true
      },
    })
    const { ready, started } = start(engine)
    await ready
    engine.last.invoke('i1', 'steps')
    const second = await registered(engine, 2)
    expect((await resultOf(second, 'i1')).payload).toMatchObject({ status: 200 })
    expect(second.of('invoke.checkpoint').map(({ payload }) => payload.seq)).toEqual([1, 2])
    expect(started).toEqual(['one', 'two'])
  })

  test('ends the passes of a runner without an id: for the engine its next socket is another runner', async () => {
    const engine = await open()
    const { ready, started } = start(engine, { runner: undefined })
    await ready
    engine.last.invoke('i1', 'held')
    await until(() => started.includes('held'))
    engine.last.socket.terminate()
    const second = await registered(engine, 2)
    expect(started[1]).toMatch(/^aborted: The engine closed the connection/)
    expect(second.of('runner.register')[0]?.payload).not.toHaveProperty('underWay')
  })

  test('passes are cancelled when the engine stays away', async () => {
    const engine = await open()
    const { ready, started } = start(engine, { awayTimeoutMs: 20 })
    await ready
    engine.last.invoke('i1', 'held')
    await until(() => started.includes('held'))
    await engine.close()
    await until(() => started.includes('aborted: The engine has been unreachable for 20 ms'))
  })
})

describe('the end', () => {
  test('lets the passes in flight finish, starts no more, and then disconnects', async () => {
    const engine = await open({ checkpoints: false })
    const runner = start(engine)
    const { started, release } = runner
    await runner.ready
    engine.last.invoke('i1', 'held')
    await until(() => started.includes('held'))
    const closing = runner.close()
    const last = await until(() => engine.last.of('runner.register')[1])
    expect(last.payload).toMatchObject({ app: 'shop', leaving: true })
    engine.last.invoke('i2', 'held')
    await resultOf(engine.last, 'i2')
    release()
    await closing
    expect(engine.last.of('invoke.result').map(({ id, payload }) => [id, payload.status])).toEqual([
      ['i2', 503],
      ['i1', 206],
    ])
    await until(() => engine.last.closed)
    expect(engine.last.closed).toEqual({ code: 1000, reason: 'the runner is shutting down' })
    expect(started).toEqual(['held'])
    expect(runner.connected).toBe(false)
    expect(engine.connections).toHaveLength(1)
  })

  test('ends a pass of many steps with its next step', async () => {
    const engine = await open()
    const runner = start(engine)
    const { started } = runner
    await runner.ready
    const seen = engine.options.onFrame
    engine.options.onFrame = (connection, frame) => {
      // The report of the first step is under way when the runner is closed.
      if (frame.type === 'invoke.checkpoint') void runner.close()
      return seen?.(connection, frame)
    }
    engine.last.invoke('i1', 'steps')
    const { payload } = await resultOf(engine.last, 'i1')
    expect(payload).toMatchObject({ status: 206, body: { opcodes: [{ name: 'two' }] } })
    expect(started).toEqual(['one', 'two'])
    await runner.close()
    expect(engine.last.of('invoke.checkpoint')).toHaveLength(1)
  })

  test('cancels passes that take too long', async () => {
    const engine = await open()
    const runner = start(engine, { closeTimeoutMs: 20 })
    const { started } = runner
    await runner.ready
    engine.last.invoke('i1', 'held')
    await until(() => started.includes('held'))
    await runner.close()
    expect(started).toEqual(['held', 'aborted: The runner is shutting down'])
  })

  test('comes with a signal, unless the option is off, and removes its listeners', async () => {
    const engine = await open()
    const listeners = () => [process.listenerCount('SIGTERM'), process.listenerCount('SIGINT')]
    const before = listeners()
    const quiet = start(engine)
    expect(listeners()).toEqual(before)
    const [one, two] = [start(engine, { handleSignals: true }), start(engine, { handleSignals: true })]
    expect(listeners()).toEqual(before.map(count => count + 1))
    await Promise.all([quiet.close(), one.close(), two.close()])
    expect(listeners()).toEqual(before)
  })

  test('before the first connection rejects ready', async () => {
    const engine = await open()
    await engine.close()
    const runner = start(engine)
    await runner.close()
    await expect(runner.ready).rejects.toThrow('The runner was closed')
  })
})
