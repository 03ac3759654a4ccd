// Sends events over real HTTP. `packages/client/src/client.test.ts` tests what every call has in common, such as its failures.

import type { SendEventReply } from '@perdure/protocol'
import { afterEach, describe, expect, expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import { type EngineServer, startEngine } from '../engine/engine-server.testkit.ts'
import { createClient, defineEvent } from '../index.ts'

let engine: EngineServer

afterEach(() => engine?.close())

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

test('data without a JSON form is not sent', async () => {
  engine = await startEngine({ status: 202, body: {} })
  const sent = createClient({ url: engine.url }).send({ name: 'e', data: 1n })
  await expect(sent).rejects.toMatchObject({ code: 'invalid_json', message: expect.stringContaining('BigInt') })
  expect(engine.calls).toEqual([])
})
