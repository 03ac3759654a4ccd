// Events that arrive later (docs/events.md#send-an-event-later).

import type { ControlAction, EventRecord, ScheduledEvent, SendEventReply } from '@perdure/protocol'
import { describe, expect, test } from 'vitest'
import {
  apiKeys,
  flow,
  JumpClock,
  keyOf,
  openEngine,
  openRunner,
  run,
  scenario,
  unique,
  until,
  wait,
} from '../../kit/index.ts'

const HOUR = 3_600_000
const env = { ENGINE_API_KEYS: apiKeys('secret', 'event', 'read', 'secret of other') }
const { clock, engine } = await scenario({ env })
const api = engine.api.as(keyOf('secret'))

const send = async (body: object, as = api) => {
  const { status, json, text } = await as.post('/events', body)
  expect(status, text).toBe(202)
  return json as SendEventReply
}
const listed = async (query = '', as = api) => (await as.get(`/scheduled-events${query}`)).json as ScheduledEvent[]
const statusOf = async (id: string) => (await api.get(`/events/${id}`)).status
const arrived = async (id: string) => {
  await until(async () => (await statusOf(id)) === 200, { what: `the event ${id}` })
  return (await api.get(`/events/${id}`)).json as EventRecord
}

describe('an event with a delay', () => {
  test('arrives when its time has come, and everything is decided then', async () => {
    const name = unique('later')
    const data = '{"n":1.0,"big":12345678901234567890}'
    const { status, json } = await api.request('POST', '/events', {
      body: `{"name":"${name}","data":${data},"delay":"2h","app":"shop"}`,
      headers: { 'content-type': 'application/json' },
    })
    const { eventId, ...rest } = json as { eventId: string; at: string }
    expect([status, rest]).toEqual([202, { at: new Date(clock.now() + 2 * HOUR).toISOString() }])
    expect(await statusOf(eventId)).toBe(404)
    const [scheduled] = (await listed()).filter(event => event.id === eventId)
    expect(scheduled).toMatchObject({ name, app: 'shop', at: rest.at, createdAt: expect.any(String) })
    expect((await api.get('/scheduled-events')).text).toContain(`"data":${data}`)

    clock.jump(2 * HOUR - 1000)
    // Only now is the workflow registered, and only now does a run begin to wait.
    const runner = await openRunner({
      app: 'shop',
      workflows: { [name]: flow([run('a')]), waits: flow([wait('w', name)]) },
    })
    await runner.register(api)
    const waiting = await api.send({ name: 'waits' })
    await api.reaches(waiting.runId, 'waiting')
    expect(await statusOf(eventId)).toBe(404)
    clock.jump(1000)
    const event = await arrived(eventId)
    expect(event).toMatchObject({ name, app: 'shop', source: 'api', woke: 1, triggered: [{ workflow: name }] })
    expect(Date.parse(event.receivedAt)).toBeGreaterThanOrEqual(Date.parse(rest.at))
    expect((await api.get(`/events/${eventId}`)).text).toContain(`"data":${data}`)
    // The log has it after an event that was sent later.
    const log = ((await api.get('/events?limit=9')).json as EventRecord[]).map(({ id }) => id)
    expect(log.indexOf(eventId)).toBeLessThan(log.indexOf(waiting.eventId))
    await api.succeeded(event.triggered[0]?.runId as string)
    await api.succeeded(waiting.runId)
    expect((await listed()).map(({ id }) => id)).not.toContain(eventId)
  })

  test('joins the buffer that another event has opened', async () => {
    const name = unique('batched')
    const registration = { batch: { maxSize: 3, timeout: '1d' } }
    const runner = await openRunner({ workflows: { [name]: { handler: flow([]), registration } } })
    await runner.register(api)
    await api.send({ name })
    const later = await Promise.all([1, 2].map(() => send({ name, delay: '2h' })))
    clock.jump(2 * HOUR)
    for (const { eventId } of later) await arrived(eventId as string)
    expect(await api.runs(`?workflow=${name}`)).toHaveLength(1)
  })

  test('meets the flow control of its arrival, and the runner that it names', async () => {
    const name = unique('limited')
    const runner = await openRunner({
      workflows: { [name]: { handler: flow([]), registration: { rateLimit: { limit: 1, period: '1h' } } } },
    })
    const body = { name, delay: '2h', targetApp: runner.app, runner: 'elsewhere' }
    const later = await send(body)
    await runner.register(api)
    // It counts in the limit when it arrives, not before.
    expect((await send({ name })).triggered).toMatchObject([{ runId: expect.any(String) }])
    clock.jump(2 * HOUR)
    const [started] = (await arrived(later.eventId as string)).triggered
    expect(await api.run(started?.runId as string)).toMatchObject({ runner: 'elsewhere' })
    expect(await send({ name })).toMatchObject({ triggered: [{ workflow: name, dropped: true }] })
  })

  test('may be given as a time; one that has passed arrives at once', async () => {
    const at = new Date(clock.now() - HOUR).toISOString()
    const reply = await send({ name: unique('past'), at })
    expect(reply).toEqual({ eventId: expect.stringMatching(/^evt_/), at })
    expect(await statusOf(reply.eventId as string)).toBe(200)
    const soon = await send({ name: unique('soon'), at: new Date(clock.now() + 1).toISOString() })
    clock.jump(1)
    await arrived(soon.eventId as string)
  })

  test('claims its dedupe id at once, until a day after it arrives', async () => {
    const [name, dedupeId] = [unique('deduped'), unique('once')]
    const { eventId } = await send({ name, dedupeId, delay: '40h' })
    expect(await send({ name, dedupeId, delay: 1 })).toEqual({ deduped: true })
    expect(await send({ name, dedupeId })).toEqual({ deduped: true })
    clock.jump(40 * HOUR)
    await arrived(eventId as string)
    clock.jump(23 * HOUR)
    expect(await send({ name, dedupeId })).toEqual({ deduped: true })
    clock.jump(HOUR)
    expect(await send({ name, dedupeId })).toMatchObject({ triggered: [] })
  })

  test('survives a restart of the engine, and arrives once', async () => {
    const clock = new JumpClock()
    const first = await openEngine({ onDisk: true, clock })
    const { storeFile } = first
    const name = unique('kept')
    const { eventId } = (await first.api.post('/events', { name, delay: HOUR })).json as SendEventReply
    await first.stop()
    const second = await openEngine({ storeFile, clock })
    clock.jump(HOUR)
    await until(async () => (await second.api.get(`/events/${eventId}`)).status === 200)
    await second.stop()
    const third = await openEngine({ storeFile, clock })
    clock.jump(HOUR)
    const found = (await third.api.get(`/events?name=${name}`)).json as EventRecord[]
    expect(found.map(({ id }) => id)).toEqual([eventId])
    await third.stop()
  })
})

describe('a scheduled event', () => {
  test('is deleted before it arrives, once, also by a key that may send', async () => {
    const [kept, gone] = [
      await send({ name: 'kept', delay: '1m' }),
      await send({ name: 'gone', delay: '1m', dedupeId: 'd' }),
    ]
    const remove = async (id: string | undefined, as = api.as(keyOf('event'))) =>
      (await as.request('DELETE', `/scheduled-events/${id}`)).status
    expect(await remove(gone.eventId, api.as(keyOf('secret', 'other')))).toBe(404)
    expect(await remove(gone.eventId, api.as(keyOf('read')))).toBe(403)
    expect(await remove(gone.eventId)).toBe(204)
    expect(await remove(gone.eventId)).toBe(404)
    expect(await send({ name: 'gone', dedupeId: 'd' })).toEqual({ deduped: true })
    clock.jump(60_000)
    await arrived(kept.eventId as string)
    expect(await statusOf(gone.eventId as string)).toBe(404)
    expect(await remove(kept.eventId)).toBe(404)
    const [entry] = (await api.get('/control-actions?action=scheduled_event.delete')).json as ControlAction[]
    expect(entry).toMatchObject({ actor: 'event', detail: { id: gone.eventId } })
  })

  test('is listed by its time, in pages, in its namespace alone', async () => {
    const other = api.as(keyOf('secret', 'other'))
    const ids: (string | undefined)[] = []
    for (const delay of ['3h', '1h', '2h', '1h']) ids.push((await send({ name: 'n', delay }, other)).eventId)
    const first = await other.get('/scheduled-events?limit=3')
    const cursor = first.headers.get('x-next-cursor')
    const second = await other.get(`/scheduled-events?limit=3&cursor=${cursor}`)
    expect(second.headers.get('x-next-cursor')).toBeNull()
    const found = [...(first.json as ScheduledEvent[]), ...(second.json as ScheduledEvent[])].map(({ id }) => id)
    expect(found.slice(0, 2).sort()).toEqual([ids[1], ids[3]].sort())
    expect(found.slice(2)).toEqual([ids[2], ids[0]])
    expect((await listed()).filter(({ id }) => ids.includes(id))).toEqual([])
    expect((await api.as(keyOf('event')).get('/scheduled-events')).status).toBe(403)
  })
})

test.each([
  [{ delay: '367d' }, /delay must not be more than 366 days away/],
  [{ at: new Date(clock.now() + 999 * 24 * HOUR).toISOString() }, /at must not be more than 366 days away/],
  [{ at: '2031-01-01T00:00:00Z', delay: 5 }, /at cannot be given with delay/],
  [{ at: 'tomorrow' }, /at must be an RFC 3339 timestamp/],
  [{ delay: 'soon' }, /delay must be milliseconds/],
  [{ delay: -1 }, /delay must be milliseconds/],
])('%j is refused', async (body, message) => {
  const { status, json } = await api.post('/events', { name: 'n', ...body })
  expect([status, (json as { error: { message: string } }).error.message]).toEqual([
    400,
    expect.stringMatching(message),
  ])
})
