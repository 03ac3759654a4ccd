// Sends events over real HTTP.

import type { SendEventReply } from '@perdure/protocol'
import { afterEach, describe, expect, expectTypeOf, test, vi } from 'vitest'
import { z } from 'zod'
import { type EngineServer, startEngine } from '../engine/engine-server.testkit.ts'
import { createClient, defineEvent, PerdureError } from '../index.ts'

let engine: EngineServer

afterEach(async () => {
  vi.unstubAllEnvs()
  await engine?.close()
})

async function failure(promise: Promise<unknown>): Promise<PerdureError> {
  const error = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(PerdureError)
  return error as PerdureError
}

describe('send', () => {
  test('posts the event with the key and returns the reply', async () => {
    const reply = {
      eventId: 'evt_1',
      runId: 'run_1',
      woke: 0,
      triggered: [{ workflow: 'w', app: 'a', runId: 'run_1' }],
    }
    engine = await startEngine({ status: 202, body: reply })
    const client = createClient({ url: `${engine.url}/`, apiKey: 'pk_1' })
    const event = {
      name: 'order.created',
      data: { id: 1 },
      app: 'a',
      dedupeId: 'd',
      runner: 'r',
      targetApp: 't',
    }
    const sent = client.send(event)
    expectTypeOf(sent).toEqualTypeOf<Promise<SendEventReply>>()
    expect(await sent).toEqual(reply)
    expect(engine.calls).toMatchObject([
      {
        method: 'POST',
        path: '/events',
        headers: { authorization: 'Bearer pk_1', 'content-type': 'application/json' },
        body: event,
      },
    ])
  })

  test('takes a name and its data, and the fields of the event beside the options of the call', async () => {
    engine = await startEngine({ status: 202, body: { eventId: 'evt_1' } })
    const client = createClient({ url: engine.url })
    const at = new Date('2026-01-01T00:00:00Z')
    await client.send('order.created', { id: 1 })
    await client.send('order.created', { id: 1 }, { dedupeId: 'd', at: at.getTime(), timeoutMs: 5_000 })
    await client.send({ name: 'order.created' }, { delay: '2h', attributes: { plan: 'pro' } })
    expect(engine.calls.map(({ body }) => body)).toEqual([
      { name: 'order.created', data: { id: 1 } },
      { name: 'order.created', data: { id: 1 }, dedupeId: 'd', at: at.toISOString() },
      { name: 'order.created', delay: '2h', attributes: { plan: 'pro' } },
    ])
  })

  test.each<[string, (client: ReturnType<typeof createClient>) => Promise<unknown>, string]>([
    [
      'a call',
      client => client.send('order', 1, { dedupe: 'x' } as never),
      'send has no option "dedupe"; did you mean "dedupeId"?',
    ],
    [
      'an event',
      client => client.send({ name: 'order', payload: 1 } as never),
      'The event of send has no option "payload"',
    ],
    [
      'an event, of the call',
      client => client.send({ name: 'order', wait: '5s' } as never),
      'The event of send has no option "wait"',
    ],
    [
      'an event, which has its data in itself: a text in the second place',
      client => client.send({ name: 'order' }, 'data' as never),
      'send takes an object of options',
    ],
    [
      'an event, which has its data in itself: data in the second place',
      client => client.send({ name: 'order' }, { orderId: 1 } as never),
      'send has no option "orderId"',
    ],
    [
      'a start',
      client => client.start('order', 1, { app: 'a', runid: 'x' } as never),
      'start has no option "runid"; did you mean "runId"?',
    ],
    [
      'a result',
      client => client.run('order', 'run_1').result({ timeout: 5 } as never),
      'result has no option "timeout"; did you mean "timeoutMs"?',
    ],
  ])('refuses an unknown option of %s', async (_, call, message) => {
    await expect(call(createClient({ url: 'http://127.0.0.1:1' }))).rejects.toThrow(message)
  })

  test('takes address and key from the environment', async () => {
    engine = await startEngine({ status: 202, body: {} })
    vi.stubEnv('ENGINE_URL', engine.url)
    vi.stubEnv('ENGINE_API_KEY', 'from-env')
    await createClient().send({ name: 'e' })
    expect(engine.calls[0]?.headers.authorization).toBe('Bearer from-env')
  })

  test('sends no key when there is none', async () => {
    engine = await startEngine({ status: 202, body: {} })
    await createClient({ url: engine.url }).send({ name: 'e' })
    expect(engine.calls[0]?.headers).not.toHaveProperty('authorization')
  })
})

describe('a typed event', () => {
  const paid = defineEvent('order/paid', z.object({ at: z.coerce.date() }))

  test('is posted with its data unchanged, and with its options', async () => {
    engine = await startEngine({ status: 202, body: {} })
    const client = createClient({ url: engine.url })
    await client.send(paid, { at: new Date(0) }, { dedupeId: 'd', timeoutMs: 5000 })
    expect(engine.calls[0]?.body).toEqual({
      name: 'order/paid',
      data: { at: '1970-01-01T00:00:00.000Z' },
      dedupeId: 'd',
    })
  })

  test('is not sent when its schema refuses it', async () => {
    engine = await startEngine({ status: 202, body: {} })
    const sent = createClient({ url: engine.url }).send(paid, { at: 'never' })
    await expect(sent).rejects.toThrow('The event "order/paid" is invalid: data.at: ')
    expect(engine.calls).toEqual([])
  })

  test('goes through the middleware like every other event', async () => {
    engine = await startEngine({ status: 202, body: {} })
    const wrap = (name: string) => ({ name, transformOutput: (data: unknown) => ({ [name]: data }) })
    const client = createClient({ url: engine.url, middleware: [wrap('outer'), wrap('inner')] })
    await client.send(paid, { at: '2026-01-01' })
    await client.send({ name: 'plain', data: 1 })
    await client.send({ name: 'bare' })
    expect(engine.calls.map(({ body }) => body)).toEqual([
      { name: 'order/paid', data: { outer: { inner: { at: '2026-01-01' } } } },
      { name: 'plain', data: { outer: { inner: 1 } } },
      { name: 'bare' },
    ])
  })
})

describe('failures', () => {
  test("the engine's refusal keeps code, status, message and request id", async () => {
    const body = { error: { code: 'invalid_request', message: 'name is blank', requestId: 'req_1' } }
    engine = await startEngine({ status: 400, body })
    const error = await failure(createClient({ url: engine.url }).send({ name: '' }))
    expect(error).toMatchObject({
      name: 'ApiError',
      code: 'invalid_request',
      status: 400,
      message: 'name is blank',
      requestId: 'req_1',
    })
  })

  test('a refusal without an error code has the status as its code, and names the address and the remedy', async () => {
    engine = await startEngine({ status: 502, body: '<html>Bad gateway' })
    const message = `${engine.url}/events answered 502: Bad gateway. Is the engine behind this proxy running?`
    const error = await failure(createClient({ url: engine.url }).send({ name: 'e' }))
    expect(error).toMatchObject({ code: 'http_502', status: 502, message })
  })

  test('an answer that is not JSON', async () => {
    engine = await startEngine({ status: 200, body: 'hello' })
    expect(await failure(createClient({ url: engine.url }).send({ name: 'e' }))).toMatchObject({
      code: 'invalid_response',
    })
  })

  test('an unreachable engine', async () => {
    engine = await startEngine('hang')
    await engine.close()
    const error = await failure(createClient({ url: engine.url }).send({ name: 'e' }))
    expect(error).toMatchObject({
      code: 'unreachable',
      status: 0,
      message: expect.stringContaining('ECONNREFUSED'),
    })
  })

  test('a connection that breaks', async () => {
    engine = await startEngine('reset')
    expect(await failure(createClient({ url: engine.url }).send({ name: 'e' }))).toMatchObject({
      code: 'unreachable',
    })
  })

  test('no answer before the deadline', async () => {
    engine = await startEngine('hang')
    const client = createClient({ url: engine.url, timeoutMs: 20 })
    expect(await failure(client.send({ name: 'e' }))).toMatchObject({
      code: 'timeout',
      message: expect.stringContaining('20 ms'),
    })
  })

  test('the deadline also holds for a call with a signal', async () => {
    engine = await startEngine('hang')
    const { signal } = new AbortController()
    const sent = createClient({ url: engine.url }).send({ name: 'e' }, { signal, timeoutMs: 20 })
    expect(await failure(sent)).toMatchObject({ code: 'timeout' })
  })

  test("the caller's abort rejects with its reason", async () => {
    engine = await startEngine('hang')
    const controller = new AbortController()
    const sent = createClient({ url: engine.url }).send({ name: 'e' }, { signal: controller.signal })
    await engine.called(1)
    const reason = new Error('changed my mind')
    controller.abort(reason)
    await expect(sent).rejects.toBe(reason)
  })

  test('data without a JSON form', async () => {
    engine = await startEngine({ status: 202, body: {} })
    const error = await failure(createClient({ url: engine.url }).send({ name: 'e', data: 1n }))
    expect(error).toMatchObject({ code: 'invalid_json', message: expect.stringContaining('BigInt') })
    expect(engine.calls).toEqual([])
  })

  test('an invalid address is refused at once', () => {
    expect(() => createClient({ url: 'engine:4777' })).toThrow(
      "The engine's URL (ENGINE_URL) is not an http or https URL",
    )
  })
})
