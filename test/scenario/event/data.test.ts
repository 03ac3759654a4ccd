// Expressions see an event's data exactly as sent: every digit of an integer, every member by its name
// (docs/events.md#expressions).

import type { DryRunReply, SendEventReply } from '@perdure/protocol'
import { describe, expect, test } from 'vitest'
import { flow, type Handler, run, scenario, step, unique, wait } from '../../kit/index.ts'

const { api, clock, workflow } = await scenario()

async function serve(registration: Record<string, unknown>, handler: Handler = flow([run('say')])): Promise<string> {
  const { name } = await workflow(handler, { registration })
  return name
}

/** Sends the data as this JSON text. */
async function send(name: string, data: string): Promise<SendEventReply> {
  const { json, status } = await api.postText('/events', `{"name":"${name}","data":${data}}`)
  expect(status).toBe(202)
  return json as SendEventReply
}

const ids = [1, 2].map(last => `{"id":184000000000000000${last}}`) as [string, string]

describe('two ids that are the same as doubles', () => {
  test('are two keys: of idempotency, singletons, rate limits and buffers', async () => {
    const key = 'event.data.id'
    const single = await serve({ singleton: { mode: 'skip', key } }, flow([wait('hold', 'nothing')]))
    const limited = await serve({ rateLimit: { limit: 1, period: '1h', key } })
    const once = await serve({ idempotency: { key } })
    for (const name of [single, limited, once]) {
      for (const id of ids) expect(await send(name, id)).toMatchObject({ runId: expect.any(String) })
      for (const id of ids) expect(await send(name, id)).not.toHaveProperty('runId')
    }
    const debounced = await serve({ debounce: { period: '10s', key: 'string(event.data.id)' } })
    for (const id of [...ids, ...ids]) await send(debounced, id)
    clock.jump(10_000)
    await expect.poll(async () => (await api.runs(`?q=${debounced}`)).length).toBe(2)
  })

  test('are different for a filter, and for its dry run', async () => {
    const name = unique('data')
    await serve({ triggers: [{ event: name, if: 'event.data.id == 1840000000000000001' }] })
    expect((await send(name, ids[0])).triggered).toHaveLength(1)
    expect((await send(name, ids[1])).triggered).toEqual([])
    const dry = async (data: string) => {
      const body = `{"name":"${name}","data":${data}}`
      return ((await api.postText('/events?dryRun=1', body)).json as DryRunReply).workflows[0]?.matches
    }
    expect(await dry(ids[0])).toBe(true)
    expect(await dry(ids[1])).toBe(false)
  })

  test('are two users of cancelOn', async () => {
    const stop = unique('stop')
    const handler = flow([wait('hold', 'nothing')])
    const name = await serve({ cancelOn: [{ event: stop, if: 'async.data.id == event.data.id' }] }, handler)
    const [a, b] = [(await send(name, ids[0])).runId as string, (await send(name, ids[1])).runId as string]
    for (const runId of [a, b]) await api.reaches(runId, 'waiting')
    await send(stop, ids[1])
    await api.reaches(b, 'cancelled')
    expect((await api.run(a)).status).toBe('waiting')
  })

  test('are two users of a wait', async () => {
    const paid = unique('paid')
    const filter = 'async.data.id == event.data.id'
    const handler = flow([step('WaitForEvent', 'pay', { eventName: paid, timeoutMs: 60_000, if: filter })])
    const name = await serve({}, handler)
    const [a, b] = [(await send(name, ids[0])).runId as string, (await send(name, ids[1])).runId as string]
    for (const runId of [a, b]) await api.reaches(runId, 'waiting')
    expect((await send(paid, ids[1])).woke).toBe(1)
    await api.succeeded(b)
    expect((await api.run(a)).status).toBe('waiting')
  })
})

describe('a member called constructor', () => {
  test('does not switch a filter off', async () => {
    const name = unique('data')
    await serve({ triggers: [{ event: name, if: 'event.data.n > 3' }] })
    expect((await send(name, '{"n":5,"constructor":1}')).triggered).toHaveLength(1)
    expect((await send(name, '{"n":2,"constructor":1}')).triggered).toEqual([])
  })

  test('leaves keys as they are', async () => {
    const name = await serve({ idempotency: { key: 'event.data.user.id' } })
    for (const id of ['"a"', '"b"'])
      expect(await send(name, `{"user":{"constructor":{},"id":${id}}}`)).toHaveProperty('runId')
    expect(await send(name, '{"user":{"id":"a"}}')).toMatchObject({ deduped: true })
  })
})
