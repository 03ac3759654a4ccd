// Starting workflows with events of the log, on both databases and with two engines on one (docs/events.md#redrive).

import type { BulkRedriveReply, ControlAction, RunSummary } from '@perdure/protocol'
import { expect, test } from 'vitest'
import { type Api, openEngine, openEngines, openRunner, PLACES, returned, STORES, unique } from '../../kit/index.ts'

const env = { ENGINE_QUEUE: 'memory' }
const LOG_START = '1970-01-01T00:00:00Z'

test.each(PLACES)(
  'events of the log start a workflow by hand, in bulk each once, on %s',
  async (_, freshStore, count) => {
    const { api, other } = await openEngines(freshStore, count, { env })
    const [name, late, event] = [unique('bill'), unique('late'), unique('order')]
    const registration = { triggers: [{ event, if: 'event.data.n > 30' }], rateLimit: { limit: 1, period: '1h' } }
    const runner = await openRunner({
      workflows: { [name]: { handler: ({ event: { data } }) => returned(data), registration } },
    })
    await runner.register(api)
    const { app } = runner
    const sent: string[] = []
    for (let n = 0; n < 33; n++) sent.push((await api.send({ name: event, data: { n } })).eventId)
    await api.send({ name: `${event}-other`, data: {} })
    expect(await api.runs(`?workflow=${name}`)).toHaveLength(1)

    // One event always starts a run, although neither its trigger nor its rate limit would allow it.
    const one = (id: string, body: unknown = { workflow: name }) => api.post(`/events/${id}/redrive`, body)
    const [first, last] = [sent[0], sent[32]] as [string, string]
    for (let i = 0; i < 2; i++) {
      const answer = await one(first)
      expect(answer.status, answer.text).toBe(201)
      expect(answer.json).toMatchObject({ workflow: name, eventId: first, eventName: event, triggerKind: 'event' })
      expect(await api.succeeded((answer.json as RunSummary).id)).toMatchObject({ input: { n: 0 }, result: { n: 0 } })
    }
    expect(((await api.get('/control-actions?action=event.redrive')).json as ControlAction[])[0]).toMatchObject({
      newRunId: expect.any(String),
      detail: { eventId: first, workflow: name, app },
    })
    expect(await one('evt_none')).toMatchObject({ status: 404 })
    expect(await one(first, { workflow: 'nobody' })).toMatchObject({ status: 404 })
    expect(await one(first, {})).toMatchObject({ status: 400 })
    // Without a time the whole log would be redriven.
    const all = await api.post('/events/redrive', { name: event, workflow: name })
    expect(all).toMatchObject({ status: 400, code: 'invalid_request', text: expect.stringContaining('since') })

    // All events, at both engines at once: 31 did not start it, although one passed the filter and counted in the rate limit.
    const many = async (at: Api, more: object = {}) => {
      const answer = await at.post('/events/redrive', { name: event, since: LOG_START, workflow: name, ...more })
      expect(answer.status, answer.text).toBe(200)
      return answer.json as BulkRedriveReply
    }
    expect(await many(other, { dryRun: true })).toEqual({
      matched: 33,
      started: 31,
      skipped: 2,
      failed: 0,
      capped: false,
    })
    expect(await api.runs(`?workflow=${name}`)).toHaveLength(3)
    const counts = await Promise.all([api, other, api].map(at => many(at)))
    expect(counts.reduce((sum, { started }) => sum + started, 0)).toBe(31)
    for (const reply of counts) {
      expect(reply).toMatchObject({ matched: 33, failed: 0, capped: false })
      expect(reply.started + reply.skipped).toBe(33)
    }
    const runs = await api.runs(`?workflow=${name}&limit=200&dir=asc`)
    expect(runs).toHaveLength(34)
    for (const id of sent) expect(runs.filter(({ eventId }) => eventId === id)).toHaveLength(id === first ? 2 : 1)
    expect(await many(api)).toMatchObject({ matched: 33, started: 0, skipped: 33 })
    const [entry] = (await api.get('/control-actions?action=event.redrive&limit=1')).json as ControlAction[]
    expect(entry?.detail).toMatchObject({
      name: event,
      workflow: name,
      matched: 33,
      started: 0,
      skipped: 33,
      capped: false,
    })

    // A time span, and another workflow with the same name in two apps.
    const record = (await api.event(last)).receivedAt
    expect(await many(api, { until: record, dryRun: true })).toMatchObject({ skipped: expect.any(Number), started: 0 })
    expect((await many(api, { since: new Date(Date.parse(record) + 1).toISOString() })).matched).toBe(0)
    for (const _ of [1, 2])
      await (await openRunner({ app: unique('app'), workflows: { [late]: () => returned() } })).register(api)
    expect(await one(first, { workflow: late })).toMatchObject({
      status: 400,
      json: { error: { details: { field: 'app' } } },
    })

    // An erased event has no data to start a run.
    const own = runs.filter(({ eventId }) => eventId === last).map(({ id }) => id)
    for (const id of own) {
      await api.succeeded(id)
      expect((await api.request('DELETE', `/runs/${id}`)).status).toBe(204)
    }
    expect(await one(last)).toMatchObject({ status: 409, code: 'conflict' })
    expect(await many(api, { dryRun: true })).toMatchObject({ started: 0, skipped: 33 })
  },
)

test.each(STORES)('a redriven event has its attributes and its runner again, on %s', async (_, freshStore) => {
  const { api, runner } = await openEngine({ storeFile: await freshStore(), env })
  const [name, other, event] = [unique('bill'), unique('ship'), unique('order')]
  const { app } = await runner({ runner: 'one', workflows: { [name]: () => returned(), [other]: () => returned() } })
  const pinned = await runner({
    app,
    runner: 'two',
    workflows: { [name]: () => returned(), [other]: () => returned() },
  })
  const { eventId } = await api.send({ name: event, runner: 'two', attributes: { plan: 'pro', seats: 3 } })
  const { json } = await api.post(`/events/${eventId}/redrive`, { workflow: name })
  const one = await api.succeeded((json as RunSummary).id)
  expect((await api.post('/events/redrive', { name: event, since: LOG_START, workflow: other })).json).toMatchObject({
    started: 1,
  })
  const [many] = await api.runs(`?workflow=${other}`)
  await api.succeeded(many?.id as string)
  for (const started of [one, many]) {
    expect(started).toMatchObject({ runner: 'two', attributes: { plan: 'pro', seats: 3 } })
    expect(pinned.record.of(started?.id as string)).toHaveLength(1)
  }
})

test.each(STORES)('a workflow that collects payloads gets a list of one, on %s', async (_, freshStore) => {
  const { api, runner } = await openEngine({ storeFile: await freshStore(), env })
  const [event, arriving] = [unique('order'), unique('arriving')]
  const policies = {
    batch: { batch: { maxSize: 10, timeout: '1h' } },
    all: { debounce: { period: '1h', mode: 'all' } },
    last: { debounce: { period: '1h' } },
  } as const
  const workflows = Object.entries(policies).map(([name, policy]) => {
    const registration = { triggers: [{ event: arriving }], ...policy }
    return [name, { handler: ({ event: { data } }: { event: { data?: unknown } }) => returned(data), registration }]
  })
  await runner({ workflows: Object.fromEntries(workflows) })
  const { eventId } = await api.send({ name: event, data: { n: 1 } })
  const bare = await api.send({ name: event })
  const resultOf = async (id: string, workflow: string) => {
    const { json } = await api.post(`/events/${id}/redrive`, { workflow })
    return (await api.succeeded((json as RunSummary).id)).result
  }
  for (const workflow of ['batch', 'all']) {
    expect(await resultOf(eventId, workflow)).toEqual([{ n: 1 }])
    expect(await resultOf(bare.eventId, workflow)).toEqual([null])
  }
  expect(await resultOf(eventId, 'last')).toEqual({ n: 1 })
  // In bulk, each event gets its own run.
  const { eventId: late } = await api.send({ name: event, data: { n: 2 } })
  const answer = await api.post('/events/redrive', { name: event, since: LOG_START, workflow: 'batch' })
  expect(answer.json).toMatchObject({ matched: 3, started: 1, skipped: 2 })
  const [started] = (await api.runs('?workflow=batch')).filter(run => run.eventId === late)
  expect((await api.succeeded(started?.id as string)).result).toEqual([{ n: 2 }])
})

test('oldest first, and a call starts at most a thousand runs', async () => {
  const { api } = await openEngine({ env })
  const [name, event] = [unique('capped'), unique('many')]
  const events = Array.from({ length: 1003 }, (_, n) => ({ name: event, data: n }))
  for (const part of [events.slice(0, 1000), events.slice(1000)]) {
    expect((await api.post('/events/batch', part)).status).toBe(200)
  }
  const runner = await openRunner({ workflows: { [name]: ({ event: { data } }) => returned(data) } })
  await runner.register(api)
  const redrive = async () =>
    (await api.post('/events/redrive', { name: event, since: LOG_START, workflow: name })).json
  expect(await redrive()).toEqual({ matched: 1003, started: 1000, skipped: 0, failed: 0, capped: true })
  const oldest = await api.runs(`?workflow=${name}&dir=asc&limit=3`)
  const inputs = await Promise.all(oldest.map(async ({ id }) => (await api.run(id)).input))
  expect(inputs).toEqual([0, 1, 2])
  expect(await redrive()).toEqual({ matched: 1003, started: 3, skipped: 1000, failed: 0, capped: false })
})
