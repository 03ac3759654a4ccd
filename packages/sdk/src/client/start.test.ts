// Starts runs and waits for their results, over real HTTP.

import type { RunStatus } from '@perdure/protocol'
import { afterEach, describe, expect, expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import { type EngineServer, startEngine } from '../engine/engine-server.testkit.ts'
import {
  ConnectionError,
  createClient,
  createWorkflow,
  defineEvent,
  PerdureError,
  RunEndedError,
  type RunHandle,
  type WorkflowArgs,
} from '../index.ts'

let engine: EngineServer

afterEach(async () => {
  await engine?.close()
})

const ship = createWorkflow({ name: 'ship it' }, async ({ event }: WorkflowArgs<{ orderId: string }>) => ({
  parcel: event.data.orderId,
  at: new Date(0),
}))
const RUN = { id: 'run_12345678', workflow: 'ship it', app: 'shop', status: 'queued' }

describe('start', () => {
  test('posts the input with the key, and takes input and result from the workflow', async () => {
    engine = await startEngine(
      { status: 201, body: RUN },
      { status: 200, body: { ...RUN, status: 'succeeded', result: 1 } },
    )
    const client = createClient({ url: engine.url, apiKey: 'pk_1', app: 'shop' })
    const options = { runId: 'run_12345678', attributes: { tier: 'gold' } }
    const handle = await client.start(ship, { orderId: '4711' }, options)
    expectTypeOf(handle).toEqualTypeOf<RunHandle<{ parcel: string; at: string }>>()
    expect(handle.runId).toBe('run_12345678')
    expect(engine.calls).toMatchObject([
      {
        method: 'POST',
        path: '/workflows/shop/ship%20it/runs',
        headers: { authorization: 'Bearer pk_1' },
        body: { input: { orderId: '4711' }, ...options },
      },
    ])
    expect(await handle.result()).toBe(1)
    expect(engine.calls[1]).toMatchObject({
      method: 'GET',
      path: '/runs/run_12345678/result?wait=25000',
      headers: { authorization: 'Bearer pk_1' },
    })
    // @ts-expect-error the input is required, and has a type
    void (() => client.start(ship))
    // @ts-expect-error the type of the input
    void (() => client.start(ship, { orderId: 4711 }))
  })

  test('types the input by what the schema takes, and a workflow by name by nothing', async () => {
    engine = await startEngine({ status: 201, body: RUN })
    const client = createClient({ url: engine.url })
    const parsed = createWorkflow(
      { name: 'parsed', input: z.object({ at: z.coerce.date() }) },
      ({ event }) => event.data.at,
    )
    const plain = createWorkflow({ name: 'plain' }, () => 5)
    expectTypeOf(client.start(plain, undefined, { app: 'a' })).resolves.toEqualTypeOf<RunHandle<number>>()
    expectTypeOf(client.start<string>('any', { n: 1 }, { app: 'a' })).resolves.toEqualTypeOf<RunHandle<string>>()
    const parts = client.start<typeof ship>('ship it', { orderId: '4711' }, { app: 'a' })
    expectTypeOf(parts).resolves.toEqualTypeOf<RunHandle<{ parcel: string; at: string }>>()
    expectTypeOf(client.run<typeof ship>('ship it', 'run_1')).toEqualTypeOf<RunHandle<{ parcel: string; at: string }>>()
    // @ts-expect-error the input is required, and has a type
    void (() => client.start<typeof ship>('ship it'))
    // @ts-expect-error the type of the input
    void (() => client.start<typeof ship>('ship it', { orderId: 4711 }))
    void (() => client.start<typeof plain>('plain'))
    await client.start(parsed, { at: '2026-01-01' }, { app: 'b' })
    await engine.called(4)
    expect(engine.calls.map(({ path }) => path).sort()).toEqual([
      '/workflows/a/any/runs',
      '/workflows/a/plain/runs',
      '/workflows/a/ship%20it/runs',
      '/workflows/b/parsed/runs',
    ])
  })

  test('leaves the refusal of an id that is none to the engine', async () => {
    engine = await startEngine({ status: 400, body: { error: { code: 'invalid_request', message: 'runId' } } })
    const started = createClient({ url: engine.url, app: 'shop' }).start('any', 1, { runId: '' })
    await expect(started).rejects.toMatchObject({ status: 400 })
    expect(engine.calls[0]?.body).toEqual({ input: 1, runId: '' })
  })

  test('posts the key, and says whether the run was there already', async () => {
    engine = await startEngine({ status: 200, body: { ...RUN, key: 'a', existing: true } }, { status: 201, body: RUN })
    const client = createClient({ url: engine.url, app: 'shop' })
    const byKey = { key: 'a', ifRunning: 'use' } as const
    expect(await client.start(ship, { orderId: '1' }, byKey)).toMatchObject({ runId: RUN.id, existing: true })
    expect(await client.start(ship, { orderId: '1' }, { key: 'a' })).toMatchObject({ existing: false })
    expect(engine.calls.map(({ body }) => body)).toMatchObject([byKey, { key: 'a' }])
    // @ts-expect-error one of three
    void (() => client.start(ship, { orderId: '1' }, { key: 'a', ifRunning: 'queue' }))
  })

  test('needs an app', async () => {
    engine = await startEngine({ status: 201, body: RUN })
    await expect(createClient({ url: engine.url }).start('any')).rejects.toThrow('start("any") needs `app`')
    expect(engine.calls).toEqual([])
  })

  test('sends its input through middleware, and the result back', async () => {
    engine = await startEngine(
      { status: 201, body: RUN },
      { status: 200, body: { ...RUN, status: 'succeeded', result: 'tluser' } },
    )
    const turned = (value: unknown) => [...String(value)].reverse().join('')
    const middleware = [{ name: 'turned', transformInput: turned, transformOutput: turned }]
    const client = createClient({ url: engine.url, app: 'shop', middleware })
    const handle = await client.start<string>('any', 'input')
    expect(engine.calls[0]?.body).toEqual({ input: 'tupni' })
    expect(await handle.result()).toBe('result')
  })
})

describe('a handle', () => {
  test('reads the status and cancels, with the key of the client and the deadline of the call', async () => {
    engine = await startEngine({ status: 200, body: { ...RUN, status: 'running' } }, { status: 200, body: RUN }, 'hang')
    const handle = createClient({ url: engine.url, apiKey: 'pk_1' }).run(ship, 'run_1')
    const status = await handle.status()
    expectTypeOf(status).toEqualTypeOf<RunStatus>()
    expect(status).toBe('running')
    await handle.cancel()
    expect(engine.calls.map(({ method, path }) => `${method} ${path}`)).toContain('POST /runs/run_1/cancel')
    expect(engine.calls.map(({ headers }) => headers.authorization)).toEqual(['Bearer pk_1', 'Bearer pk_1'])
    const late = await handle.status({ timeoutMs: 20 }).catch((error: unknown) => error)
    expect(late).toBeInstanceOf(ConnectionError)
    expect(late).toMatchObject({ code: 'timeout', status: 0 })
    await expect(handle.cancel({ timeout: 5 } as never)).rejects.toThrow('cancel has no option "timeout"')
  })
})

describe('an event that waits', () => {
  const reply = { eventId: 'evt_1', runId: 'run_1', woke: 0, triggered: [{ workflow: 'w', app: 'a', runId: 'run_1' }] }
  const ended = { runId: 'run_1', status: 'succeeded', result: 'tluser' } as const

  test('has the run with its result in the reply, past the deadline of a silent engine', async () => {
    engine = await startEngine({ status: 202, body: { ...reply, run: ended } })
    const client = createClient({ url: engine.url, timeoutMs: 1 })
    const event = defineEvent('e', z.object({}))
    expect(await client.send({ name: 'e' }, { wait: '5s' })).toEqual({ ...reply, run: ended })
    expect((await client.send(event, {}, { wait: 1500 })).run).toEqual(ended)
    expect(engine.calls.map(({ path, body }) => [path, body])).toEqual([
      ['/events?wait=5000', { name: 'e' }],
      ['/events?wait=1500', { name: 'e', data: {} }],
    ])
    await expect(client.send({ name: 'e' }, { wait: 'soon' as never })).rejects.toThrow(
      '`wait` is not a duration: soon',
    )
  })

  test('passes the result through the middleware, as the kind that a handle has', async () => {
    engine = await startEngine(
      { status: 202, body: { ...reply, run: ended } },
      { status: 202, body: { ...reply, run: { runId: 'run_1', status: 'failed' } } },
    )
    const places: unknown[] = []
    const transformInput = (value: unknown, place: unknown) => {
      places.push(place)
      return [...String(value)].reverse().join('')
    }
    const client = createClient({ url: engine.url, middleware: [{ name: 'turned', transformInput }] })
    expect((await client.send({ name: 'e' }, { wait: '5s' })).run).toEqual({ ...ended, result: 'result' })
    expect((await client.send({ name: 'e' }, { wait: '5s' })).run).toEqual({ runId: 'run_1', status: 'failed' })
    expect(places).toEqual([{ kind: 'child', name: 'w' }])
  })

  test('leaves further waiting to the handle of its run', async () => {
    engine = await startEngine({ status: 202, body: reply }, { status: 200, body: { ...RUN, ...ended } })
    const client = createClient({ url: engine.url })
    const { runId = '' } = await client.send({ name: 'e' })
    const handle = client.run(ship, runId)
    expectTypeOf(handle).toEqualTypeOf<RunHandle<{ parcel: string; at: string }>>()
    expect(await handle.result()).toBe('tluser')
    expectTypeOf(client.run<string>('w', runId)).toEqualTypeOf<RunHandle<string>>()
    expect(engine.calls[1]).toMatchObject({ method: 'GET', path: '/runs/run_1/result?wait=25000' })
  })
})

describe('the result', () => {
  const handleOf = async (...states: object[]) => {
    engine = await startEngine(
      { status: 201, body: RUN },
      ...states.map(state => ({ status: 200, body: { ...RUN, ...state } })),
    )
    return createClient({ url: engine.url, app: 'shop' }).start(ship, { orderId: '1' })
  }

  test('comes when the run has ended', async () => {
    const handle = await handleOf({ status: 'running' }, { status: 'succeeded', result: { n: 1 } })
    expect(await handle.result()).toEqual({ n: 1 })
    expect(engine.calls).toHaveLength(3)
  })

  test('is the error of a run that failed', async () => {
    const error = { message: 'declined', name: 'CardError', code: 'step_failed', stepName: 'charge' }
    const handle = await handleOf({ status: 'failed', error })
    const thrown = await handle.result().catch((given: unknown) => given)
    expect(thrown).toBeInstanceOf(RunEndedError)
    expect(thrown).toMatchObject({ ...error, runId: RUN.id, status: 'failed' })
  })

  test('is an error when the run was cancelled', async () => {
    const handle = await handleOf({ status: 'cancelled' })
    await expect(handle.result()).rejects.toMatchObject({
      name: 'RunEndedError',
      status: 'cancelled',
      message: `Run ${RUN.id} was cancelled`,
    })
  })

  test('does not wait longer than it may, nor after its signal has aborted', async () => {
    const handle = await handleOf({ status: 'running' })
    const late = await handle.result({ timeoutMs: 120 }).catch((given: unknown) => given)
    expect(late).toBeInstanceOf(PerdureError)
    expect(late).toMatchObject({ code: 'timeout', message: `Run ${RUN.id} has not ended within 120 ms: it is running` })
    const controller = new AbortController()
    const given = handle.result({ signal: controller.signal })
    controller.abort(new Error('enough'))
    await expect(given).rejects.toThrow('enough')
  })
})
