// Rate limits, over the HTTP interface (docs/flow-control.md#rate-limit).

import type { SendEventReply } from '@perdure/protocol'
import { expect, test } from 'vitest'
import { emit, flow, run, scenario, unique } from '../../kit/index.ts'

const { api, clock, engine, workflow } = await scenario()

const runsOf = (workflow: string) => api.runs(`?workflow=${workflow}&limit=200`)

const limited = async (registration: Record<string, unknown>): Promise<string> =>
  (await workflow(flow([run('say')]), { registration })).name

const send = async (name: string, data: object = {}, more: object = {}) =>
  (await api.post('/events', { name, data, ...more })).json as SendEventReply
const outcome = ({ runId, dropped, deduped }: SendEventReply) =>
  runId !== undefined ? 'run' : dropped ? 'dropped' : deduped ? 'deduped' : 'nothing'

test('an event over the limit is dropped, at both levels, and recorded', async () => {
  const name = await limited({ rateLimit: { limit: 2, period: '10s' } })
  expect([outcome(await send(name)), outcome(await send(name))]).toEqual(['run', 'run'])
  const third = await send(name)
  expect(third).toEqual({
    eventId: expect.any(String),
    woke: 0,
    triggered: [{ workflow: name, app: expect.any(String), dropped: true }],
    dropped: true,
  })
  expect((await api.event(third.eventId as string)).triggered).toEqual(third.triggered)
  clock.jump(9999)
  expect(outcome(await send(name))).toBe('dropped')
  clock.jump(1)
  expect(outcome(await send(name))).toBe('run')
})

test('of many events at once exactly as many as the limit start runs, for each key', async () => {
  const name = await limited({ rateLimit: { limit: 3, period: '1h', key: 'event.data.k' } })
  const replies = await Promise.all(
    ['x', 'y'].flatMap(k => Array.from({ length: 10 }, async () => [k, outcome(await send(name, { k }))])),
  )
  for (const k of ['x', 'y']) {
    expect(replies.filter(([key, what]) => key === k && what === 'run')).toHaveLength(3)
    expect(replies.filter(([key, what]) => key === k && what === 'dropped')).toHaveLength(7)
  }
})

test('no repeat takes a token: not of a dedupe id, nor of an idempotency key', async () => {
  const name = await limited({
    rateLimit: { limit: 2, period: '1h' },
    idempotency: { key: 'event.data.id' },
  })
  const dedupeId = unique('once')
  const outcomes = []
  for (const [id, more] of [
    [1, { dedupeId }],
    [2, { dedupeId }],
    [1, {}],
    [3, {}],
    [4, {}],
  ] as const)
    outcomes.push(outcome(await send(name, { id }, more)))
  expect(outcomes).toEqual(['run', 'deduped', 'deduped', 'run', 'dropped'])
})

test('an emitted event is treated alike', async () => {
  const name = await limited({ rateLimit: { limit: 2, period: '1h' } })
  const emitter = unique('emitter')
  const steps = ['one', 'two', 'three'].map(step => emit(step, name))
  await engine.runner({ workflows: { [emitter]: flow([steps]) } })
  const { runId } = await api.send({ name: emitter })
  await api.succeeded(runId)
  expect(await runsOf(name)).toHaveLength(2)
})
