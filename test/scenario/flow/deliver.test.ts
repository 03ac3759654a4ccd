// Delivered events in the corner cases of a run's life (docs/flow-control.md#singleton): the bound of an inbox, pauses, erasure,
// retention, events that the run itself emits, and registrations that change meanwhile.

import type { RunExplanation, RunSummary, SendEventReply } from '@perdure/protocol'
import { expect, test } from 'vitest'
import {
  type Api,
  discovered,
  emit,
  flow,
  gate,
  type Handler,
  JumpClock,
  type OpenEngine,
  opcode,
  openEngine,
  returned,
  scenario,
  unique,
  until,
  wait,
} from '../../kit/index.ts'

const shared = await scenario()
const singleton = { mode: 'deliver' }
const hold = wait('hold', 'nothing', 365 * 86_400_000)

/** A delivering singleton whose runs have the handler, and the actions of its tests. */
async function opened(
  handler: Handler,
  { api, engine, clock }: { api: Api; engine: Pick<OpenEngine, 'runner'>; clock: JumpClock } = shared,
  registration: object = { singleton },
) {
  const name = unique('deliver')
  const runner = await engine.runner({ workflows: { [name]: { handler, registration: { ...registration } } } })
  return {
    name,
    runner,
    send: async (data: unknown, more: object = {}) =>
      (await api.post('/events', { name, data, ...more })).json as SendEventReply & { runId: string },
    /** Resolves with the runs, oldest first, once there are that many. */
    runs: (count: number) => api.runsReach(`?workflow=${name}&dir=asc&limit=200`, count),
    /** Some time later, because ids of the same millisecond have no order. */
    cancel: (id: string) => {
      clock.jump(1000)
      return api.post(`/runs/${id}/cancel`)
    },
    inputOf: async (run: RunSummary | undefined) => (await api.run(run?.id as string)).input,
  }
}

test('an inbox holds 10,000 events: beyond, a caller is refused, an emit is skipped, a delayed event is tried again', async () => {
  const { api, clock, engine } = shared
  const { name, send, cancel, runs, inputOf } = await opened(flow([hold]))
  const { runId } = await send(0)
  await api.reaches(runId, 'waiting')
  await send('later', { delay: '1m' })
  for (let sent = 0; sent < 10_000; sent += 1000) {
    const events = Array.from({ length: 1000 }, (_, i) => ({ name, data: sent + i + 1 }))
    const replies = (await api.post('/events/batch', events)).json as SendEventReply[]
    expect(new Set(replies.map(({ liveRunId }) => liveRunId))).toEqual(new Set([runId]))
  }
  const refused = await api.post('/events', { name, data: 'over' })
  expect(refused.status).toBe(409)
  expect(refused.json).toMatchObject({ error: { code: 'conflict', details: { limit: 10_000, liveRunId: runId } } })
  const emitter = unique('emitter')
  await engine.runner({ workflows: { [emitter]: flow([emit('tell', name, 'emitted')]) } })
  const emitting = await api.send({ name: emitter })
  await api.succeeded(emitting.runId)
  const { effects } = (await api.step(emitting.runId, 'tell')) as { effects?: { triggered: object[] } }
  expect(effects?.triggered).toEqual([expect.objectContaining({ skipped: true, liveRunId: runId })])
  clock.jump(60_000)
  const scheduled = async () => JSON.stringify((await api.get('/scheduled-events?limit=200')).json).includes(name)
  await shared.barrier()
  expect(await scheduled()).toBe(true)
  await cancel(runId)
  const [, second] = await runs(2)
  expect(await inputOf(second)).toBe(1)
  // Now there is room for it.
  await until(async () => {
    clock.jump(60_000)
    return !(await scheduled())
  })
  expect((await api.post('/events', { name, data: 'over' })).code).toBe('conflict')
  expect(await runs(2)).toHaveLength(2)
})

test('a paused run is live: its wait takes the event, and the events that it leaves start a run when it is cancelled', async () => {
  const { api } = shared
  const handler: Handler = (invoke, record) => flow([wait('next', invoke.event.name), hold])(invoke, record)
  const { send, cancel, runs, inputOf } = await opened(handler)
  const { runId } = await send(1)
  await api.reaches(runId, 'waiting')
  await api.post(`/runs/${runId}/pause`)
  for (const n of [2, 3]) expect((await send(n)).liveRunId).toBe(runId)
  expect(await api.step(runId, 'next')).toMatchObject({ status: 'succeeded', data: { data: 2 } })
  await cancel(runId)
  // No runner knew about the first.
  const [, second] = await runs(2)
  expect(await inputOf(second)).toBe(2)
  await api.reaches(second?.id as string, 'waiting')
  expect(await api.step(second?.id as string, 'next')).toMatchObject({ data: { data: 3 } })
})

test('the run that a left event starts has the options of the event, and says where the event was', async () => {
  const { api } = shared
  const { send, cancel, runs, runner } = await opened(flow([hold]))
  const { runId } = await send(1)
  const sent = await send(2, { attributes: { plan: 'pro' }, runner: runner.url })
  await cancel(runId)
  const [, second] = await runs(2)
  const id = second?.id as string
  expect(second).toMatchObject({ eventId: sent.eventId, attributes: { plan: 'pro' }, runner: runner.url })
  expect((await api.get(`/runs/${id}/why`)).json as RunExplanation).toMatchObject({ deliveredTo: runId })
  expect((await api.get(`/runs/${runId}/why`)).json).not.toHaveProperty('deliveredTo')
  expect(await api.logs(runId)).toMatchObject([
    {
      level: 'info',
      message: expect.stringMatching(`the delivered event ${sent.eventId}.*Run ${id} starts with the event`),
    },
  ])
})

test('a run emits an event to itself with its end: the event starts the next run', async () => {
  const { api } = shared
  const handler: Handler = ({ event }) => {
    const n = event.data as number
    if (n === 3) return returned()
    const tell = opcode('Emit', 'tell', { eventName: event.name, data: n + 1 })
    return { status: 200, body: { data: null, opcodes: [tell], logs: [] } }
  }
  const { send, runs, inputOf, runner } = await opened(handler)
  await runner.register(api, { features: ['end-with-steps'] })
  await send(1)
  const all = await runs(3)
  for (const { id } of all) await api.succeeded(id)
  expect((await Promise.all(all.map(inputOf))).sort()).toEqual([1, 2, 3])
})

test('a run that goes on after its emit takes the event by its own wait', async () => {
  const { api } = shared
  const handler: Handler = (invoke, record) => {
    const { name, data } = invoke.event
    return flow([emit('tell', name, `${data}, told`), wait('next', name)])(invoke, record)
  }
  const { send, runs } = await opened(handler)
  const { runId } = await send('a')
  await api.succeeded(runId)
  expect(await api.step(runId, 'next')).toMatchObject({ data: { data: 'a, told' } })
  expect(await runs(1)).toHaveLength(1)
})

test.each([undefined, { singleton: { mode: 'skip' } }])(
  'events that are left start runs although the registration is now %o',
  async registration => {
    const { engine } = shared
    const { name, runner, send, runs, cancel, inputOf } = await opened(flow([hold]))
    const { runId } = await send(1)
    for (const n of [2, 3]) await send(n)
    const { app, runner: runnerId } = runner
    await engine.runner({ app, runner: runnerId, workflows: { [name]: { handler: flow([hold]), registration } } })
    await cancel(runId)
    const [, second] = await runs(2)
    await cancel(second?.id as string)
    const all = await runs(3)
    expect(await Promise.all(all.map(inputOf))).toEqual([1, 2, 3])
    await cancel(all[2]?.id as string)
    expect(await runs(3)).toHaveLength(3)
  },
)

test('a run that an event cancels during its pass leaves its events to the next run', async () => {
  const { api } = shared
  const [stop, done] = [unique('stop'), gate()]
  const handler: Handler = async ({ event }) => {
    if (event.data === 1) await done.opened
    return returned()
  }
  const { send, runs, inputOf, runner } = await opened(handler, shared, { singleton, cancelOn: [{ event: stop }] })
  const { runId } = await send(1)
  await until(() => runner.record.invokes.length === 1)
  expect((await send(2)).liveRunId).toBe(runId)
  shared.clock.jump(1000)
  await api.post('/events', { name: stop })
  await api.reaches(runId, 'cancelled')
  done.open(undefined)
  const [, second] = await runs(2)
  expect(await inputOf(second)).toBe(2)
})

test('a parent that ends cancels its child, whose events start a run', async () => {
  const { api, engine } = shared
  const { name, send, runs, inputOf } = await opened(flow([hold]))
  const parent = unique('parent')
  const start = opcode('RunWorkflow', 'kid', { childName: name })
  await engine.runner({ workflows: { [parent]: () => discovered([start]) } })
  const { runId } = await api.send({ name: parent })
  const [kid] = await runs(1)
  await api.reaches(kid?.id as string, 'waiting')
  expect((await send('left')).liveRunId).toBe(kid?.id)
  await api.post(`/runs/${runId}/cancel`)
  const [, next] = await runs(2)
  expect(await inputOf(next)).toBe('left')
  expect(next).not.toHaveProperty('parentRunId')
})

test('neither an erasure nor retention takes the data of an event from an inbox', async () => {
  const clock = new JumpClock()
  const engine = await openEngine({ clock, env: { ENGINE_RETENTION: '1m' } })
  const { api } = engine
  const { name, send, runs, cancel, inputOf } = await opened(flow([hold]), { api, engine, clock })
  const listener = unique('listener')
  const registration = { triggers: [{ event: name }] }
  await engine.runner({ workflows: { [listener]: { handler: () => returned(), registration } } })
  const old = await api.send({ name: unique('old') })
  const { triggered } = await send('first')
  const live = triggered?.find(({ workflow }) => workflow === name)?.runId as string
  await api.reaches(live, 'waiting')
  const kept = await send('kept')
  const heard = kept.triggered?.find(({ workflow }) => workflow === listener)?.runId as string
  await api.succeeded(heard)
  expect((await api.request('DELETE', `/runs/${heard}`)).status).toBe(204)
  await until(async () => {
    clock.jump(3_600_000)
    return (await api.get(`/events/${old.eventId}`)).status === 404
  })
  expect((await api.get(`/events/${kept.eventId}`)).status).toBe(200)
  await cancel(live)
  const second = (await runs(2)).find(({ eventId }) => eventId === kept.eventId)
  expect(await inputOf(second)).toBe('kept')
})
