// Idempotency, over the HTTP interface (docs/flow-control.md#idempotency).

import type { SendEventReply } from '@perdure/protocol'
import { expect, test } from 'vitest'
import { emit, flow, run, scenario, unique } from '../../kit/index.ts'

const { api, clock, engine, workflow } = await scenario()

const runsOf = (workflow: string) => api.runs(`?workflow=${workflow}&limit=200`)
const DAY = 86_400_000

const once = async (idempotency: object): Promise<string> =>
  (await workflow(flow([run('say')]), { registration: { idempotency } })).name

const send = async (name: string, id: unknown, more: object = {}) =>
  (await api.post('/events', { name, data: { id }, ...more })).json as SendEventReply

test('a key starts one run within 24 hours, and the repeat says so at both levels', async () => {
  const name = await once({ key: 'event.data.id' })
  const first = await send(name, 'a')
  expect(first.runId).toBeDefined()
  expect(first).not.toHaveProperty('deduped')
  clock.jump(DAY - 1)
  const repeat = await send(name, 'a')
  expect(repeat).toEqual({
    eventId: expect.any(String),
    woke: 0,
    triggered: [{ workflow: name, app: expect.any(String), deduped: true }],
    deduped: true,
  })
  // The event itself is still recorded.
  expect((await api.event(repeat.eventId as string)).triggered).toEqual(repeat.triggered)
  expect((await send(name, 'b')).runId).toBeDefined()
  clock.jump(1)
  expect((await send(name, 'a')).runId).toBeDefined()
})

test('a ttl of its own counts from the event that claimed the key', async () => {
  const name = await once({ key: 'event.data.id', ttl: '10s' })
  await send(name, 'a')
  clock.jump(9999)
  expect((await send(name, 'a')).deduped).toBe(true)
  clock.jump(1)
  expect((await send(name, 'a')).runId).toBeDefined()
})

test('of many events at once exactly one starts a run', async () => {
  const name = await once({ key: 'event.data.id' })
  const replies = await Promise.all(Array.from({ length: 20 }, () => send(name, 'same')))
  expect(replies.filter(({ runId }) => runId !== undefined)).toHaveLength(1)
  expect(replies.filter(({ deduped }) => deduped)).toHaveLength(19)
})

test('an emitted event is treated alike, also twice in one pass', async () => {
  const name = await once({ key: 'event.data.id' })
  const emitter = unique('emitter')
  const twice = [emit('one', name, { id: 'e' }), emit('two', name, { id: 'e' })]
  await engine.runner({ workflows: { [emitter]: flow([twice]) } })
  const { runId } = await api.send({ name: emitter })
  await api.succeeded(runId)
  expect(await runsOf(name)).toHaveLength(1)
  expect((await send(name, 'e')).deduped).toBe(true)
})

test('when one workflow starts a run and another has seen the key, the answer names the run', async () => {
  const event = unique('shared')
  const triggers = [{ event }]
  const handler = flow([run('say')])
  const [a, b] = [unique('a'), unique('b')]
  await engine.runner({
    workflows: {
      [a]: { handler, registration: { triggers, idempotency: { key: 'event.data.id' } } },
      [b]: { handler, registration: { triggers } },
    },
  })
  await send(event, 1)
  const { runId, deduped, triggered } = await send(event, 1)
  expect(triggered).toMatchObject([
    { workflow: a, deduped: true },
    { workflow: b, runId },
  ])
  expect(deduped).toBeUndefined()
})
