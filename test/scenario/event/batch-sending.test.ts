// Many events in one request (docs/events.md#send-many-events).

import { expect, test } from 'vitest'
import { returned, scenario, unique } from '../../kit/index.ts'

const { api, workflow } = await scenario({ realTime: true })

interface Item {
  eventId?: string
  runId?: string
  deduped?: boolean
  error?: { code: string; message: string; details?: object }
}

const sendAll = async (events: unknown[]) => {
  const { status, json } = await api.post('/events/batch', events)
  expect(status).toBe(200)
  return json as Item[]
}

test('each event has its own reply, in order, and a refused one stops no other', async () => {
  const { name } = await workflow(({ event }) => returned(event.data))
  const later = { name: unique('later'), delay: '1h' }
  const big = { name: unique('big'), data: 'x'.repeat(1024 * 1024) }
  const replies = await sendAll([{ name, data: 1 }, { data: 2 }, later, big, { name, data: 3, surprise: 1 }])
  expect(replies).toMatchObject([
    { eventId: expect.any(String), triggered: [{ workflow: name }] },
    { error: { code: 'invalid_request', details: { field: 'name' } } },
    { eventId: expect.any(String), at: expect.any(String) },
    { error: { code: 'payload_too_large', details: { limit: 1024 * 1024 } } },
    { eventId: expect.any(String), warnings: [expect.stringContaining('surprise')] },
  ])
  const log = (await api.get(`/events?name=${name}`)).json as { data: unknown }[]
  expect(log.map(({ data }) => data)).toEqual([3, 1])
  expect((await api.get(`/events?name=${big.name}`)).json).toEqual([])
})

test('of a dedupe id the first one counts, unless it was refused', async () => {
  const name = unique('once')
  const dedupeId = unique('id')
  const refused = { name, dedupeId, attributes: { 'no key': 1 } }
  const replies = await sendAll([
    refused,
    { name, dedupeId, data: 1 },
    { name, dedupeId, data: 2 },
    { name, dedupeId, app: 'other' },
  ])
  expect(replies.map(({ error, deduped, eventId }) => error?.code ?? deduped ?? typeof eventId)).toEqual([
    'invalid_request',
    'string',
    true,
    'string',
  ])
  expect(replies[2]).toEqual({ deduped: true })
  expect((await api.get(`/events?name=${name}`)).json).toMatchObject([{ app: 'other' }, { data: 1 }])
})

test('a thousand events are one request, and keep their exact text', async () => {
  const name = unique('many')
  const items = Array.from({ length: 1000 }, (_, i) => `{"name":"${name}","data":1${String(i).padStart(19, '0')}}`)
  const { status, json, text } = await api.postText('/events/batch', `[${items.join(', ')}]`)
  expect([status, (json as Item[]).length, text.includes('"error"')]).toEqual([200, 1000, false])
  const ids = (json as Item[]).map(({ eventId }) => eventId as string)
  expect(new Set(ids).size).toBe(1000)
  expect((await api.get(`/events/${ids[777]}`)).text).toContain('"data":10000000000000000777')
})

test.each([
  ['an object', '{}', 400, 'invalid_request'],
  ['nothing', '', 400, 'invalid_request'],
  ['1,001 events', `[${Array(1001).fill('{"name":"x"}').join(',')}]`, 400, 'invalid_request'],
  ['a list that is cut off', '[{"name":"x"}', 400, 'invalid_json'],
  [
    'a list over 8 MiB',
    JSON.stringify(Array(9).fill({ name: 'x', data: 'x'.repeat(1_000_000) })),
    413,
    'payload_too_large',
  ],
])('%s is refused as a whole', async (_what, body, status, code) => {
  expect(await api.postText('/events/batch', body)).toMatchObject({ status, code })
})

test('an empty list has an empty answer', async () => {
  expect(await sendAll([])).toEqual([])
})
