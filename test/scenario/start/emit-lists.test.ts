// Lists of events from one step, with times, dedupe ids, attributes and apps (docs/steps.md#stepemit-ctxwebhooksend).

import type { RunSummary, ScheduledEvent } from '@perdure/protocol'
import { expect, test } from 'vitest'
import { flow, returned, scenario, step, unique, until, wait, waitsFor } from '../../kit/index.ts'

const { api, clock, engine } = await scenario()

interface Listed {
  eventName: string
  data?: unknown
  [option: string]: unknown
}

/** Emits the events by one step; returns the ids and the step. */
async function emits(events: readonly Listed[], more: Parameters<typeof flow>[0] = []) {
  const name = unique('emitter')
  const fields = {
    eventName: events[0]?.eventName,
    data: events.map(({ data = null }) => data),
    events: events.map(({ data, ...options }) => ({ ...options, ...(data === undefined && { noData: true }) })),
  }
  await engine.runner({ workflows: { [name]: flow([step('Emit', 'tell', fields), ...more]) } })
  const { runId } = await api.send({ name })
  await until(async () => (await api.steps(runId)).length > 0)
  const record = await api.step(runId, 'tell')
  return { runId, record, ids: (record.data as { ids?: string[] } | undefined)?.ids ?? [] }
}

const runsOf = async (name: string) => (await api.get(`/runs?workflow=${name}&dir=asc&limit=200`)).json as RunSummary[]
const scheduled = async (name: string) =>
  ((await api.get('/scheduled-events?limit=200')).json as ScheduledEvent[]).filter(event => event.name === name)
async function listener(registration: Record<string, unknown> = {}) {
  const name = unique('listener')
  const { app } = await engine.runner({
    workflows: {
      [name]: { handler: () => returned(), registration: { triggers: [{ event: name }], ...registration } },
    },
  })
  return { name, app }
}

test('a thousand events are emitted in the commit of the step, in their order, each with an id', async () => {
  const { name } = await listener({ batch: { maxSize: 1000, timeout: '1h' } })
  const { ids, record } = await emits(Array.from({ length: 1000 }, (_, n) => ({ eventName: name, data: n })))
  expect(record).toMatchObject({ status: 'succeeded', eventName: name })
  expect(new Set(ids).size).toBe(1000)
  const [run] = await until(async () => (await runsOf(name)).length === 1 && (await runsOf(name)))
  const { input, eventIds } = await api.succeeded(run?.id as string)
  expect(input).toEqual(Array.from({ length: 1000 }, (_, n) => n))
  expect(eventIds).toEqual(ids)
})

test('attributes are those of the runs; an app limits what is started; no data is not null', async () => {
  const { name, app } = await listener({ attributes: {} })
  const other = await engine.runner({ workflows: { [name]: () => returned() } })
  const { ids } = await emits([
    { eventName: name, attributes: { n: 1 } },
    { eventName: name, app: other.app, data: null },
    { eventName: name, app: 'nobody' },
  ])
  const runs = await runsOf(name)
  expect(runs.map(run => [run.app, run.eventId, run.attributes]).sort()).toEqual(
    [
      [app, ids[0], { n: 1 }],
      [other.app, ids[0], { n: 1 }],
      [other.app, ids[1], undefined],
    ].sort(),
  )
  const inputs = await Promise.all(runs.map(async ({ id }) => api.run(id)))
  expect(inputs.filter(run => 'input' in run).map(run => run.eventId)).toEqual([ids[1]])
})

test('events with a delay or a time arrive then, with the ids of the step', async () => {
  const { name } = await listener()
  const at = clock.now() + 120_000
  const { ids } = await emits([
    { eventName: name, data: 'later', delayMs: 60_000, attributes: { n: 2 } },
    { eventName: name, data: 'then', atMs: at },
    { eventName: name, data: 'now', atMs: 1 },
  ])
  const started = async (count: number) => {
    const runs = await until(async () => (await runsOf(name)).length >= count && (await runsOf(name)))
    return runs.map(({ eventId }) => eventId)
  }
  expect(await started(1)).toEqual([ids[2]])
  expect((await scheduled(name)).map(event => [event.id, event.at])).toEqual([
    [ids[0], new Date(at - 60_000).toISOString()],
    [ids[1], new Date(at).toISOString()],
  ])
  clock.jump(60_000)
  expect(await started(2)).toEqual([ids[2], ids[0]])
  clock.jump(60_000)
  expect(await started(3)).toEqual([ids[2], ids[0], ids[1]])
  expect((await runsOf(name))[1]?.attributes).toEqual({ n: 2 })
})

test('a dedupe id counts as one of POST /events: over steps, requests and within the list', async () => {
  const { name } = await listener()
  const dedupeId = unique('order')
  const { eventId } = await api.send({ name, dedupeId })
  const other = unique('order')
  const { ids } = await emits([
    { eventName: name, dedupeId },
    { eventName: name, dedupeId: other },
    { eventName: name, dedupeId: other },
    { eventName: name, dedupeId: other, app: 'another-scope' },
  ])
  expect([ids[0], ids[2]]).toEqual([eventId, ids[1]])
  expect(new Set(ids).size).toBe(3)
  expect((await api.post('/events', { name, dedupeId: other })).json).toMatchObject({ deduped: true })
  expect((await emits([{ eventName: name, dedupeId: other, delayMs: 1000 }])).ids).toEqual([ids[1]])
  expect(await scheduled(name)).toEqual([])
  expect(new Set((await runsOf(name)).map(run => run.eventId))).toEqual(new Set([eventId, ids[1]]))
})

test('a list with an event that cannot be emitted emits none, and its step fails, catchable', async () => {
  const { name } = await listener()
  for (const [wrong, field] of [
    [{ eventName: 'a\u0000b' }, 'events[1]'],
    [{ eventName: 'perdure/run.failed' }, 'events[1]'],
    [{ eventName: name, delayMs: 400 * 86_400_000 }, '366 days'],
  ] as const) {
    const { record, runId } = await emits([{ eventName: name }, wrong])
    expect(record).toMatchObject({ status: 'failed', error: { message: expect.stringContaining(field) } })
    await api.succeeded(runId)
  }
  expect(await runsOf(name)).toEqual([])
})

test('a wait of the run itself sees the events of its list', async () => {
  const name = unique('own')
  const { runId } = await emits(
    [
      { eventName: name, delayMs: 60_000, data: 1 },
      { eventName: name, data: 2 },
    ],
    [wait('first', name), wait('second', name)],
  )
  await waitsFor(api, runId, 'event')
  clock.jump(60_000)
  await api.succeeded(runId)
  const steps = await api.steps(runId)
  expect(steps.slice(1).map(({ data }) => (data as { data: unknown }).data)).toEqual([2, 1])
})
