// Schedules (docs/events.md#schedules): schedules of workflows are paused and fired, schedules of the API are created and
// changed.

import type { ControlAction, EventRecord, FireScheduleReply, ScheduleEntry } from '@perdure/protocol'
import { describe, expect, test } from 'vitest'
import { type Answer, flow, JumpClock, openEngine, openRunner, run, scenario, unique, until } from '../../kit/index.ts'

const HOUR = 3_600_000
const { clock, engine } = await scenario()
const { api } = engine

const put = async (id: string, body: unknown) => {
  const answer = await api.put(`/schedules/${id}`, body)
  expect(answer.status, answer.text).toBe(200)
  return answer.json as ScheduleEntry
}
const done = async <T>(asked: Promise<Answer>, expected = 200) => {
  const { status, text, json } = await asked
  expect(status, text).toBe(expected)
  return json as T
}
const pause = (id: string) => done<ScheduleEntry>(api.post(`/schedules/${id}/pause`))
const resume = (id: string) => done<ScheduleEntry>(api.post(`/schedules/${id}/resume`))
const fire = (id: string) => done<FireScheduleReply>(api.post(`/schedules/${id}/fire`), 202)
const listed = async (query = '', as = api) => (await as.get(`/schedules${query}`)).json as ScheduleEntry[]
const entry = async (id: string) => (await listed('?limit=200')).find(schedule => schedule.id === id)
const eventsOf = async (name: string) => (await api.get(`/events?name=${name}`)).json as EventRecord[]
const arrived = (name: string, count: number) =>
  until(async () => {
    const events = await eventsOf(name)
    return events.length >= count && events
  })

/** A runner whose workflow has the cron, and a trigger on the event `name`. */
async function nightly(cron = '0 2 * * *') {
  const name = unique('nightly')
  const registration = { triggers: [{ cron }, { event: name }] }
  const runner = await openRunner({ workflows: { [name]: { handler: flow([run('a')]), registration } } })
  await runner.register(api)
  return { name, app: runner.app, id: `wf:${runner.app}:${name}:0` }
}
const runsOf = (name: string) => api.runs(`?workflow=${name}`)

describe('a schedule of the API', () => {
  test('sends its event at every instant, its data to the letter', async () => {
    const { name } = await nightly()
    const data = '{"n":1.0,"big":12345678901234567890}'
    const made = await api.put(
      `/schedules/${name}`,
      `{"cron":"30 * * * *","timezone":"Asia/Kolkata","event":{"name":"${name}","data":${data}}}`,
    )
    expect(made.text).toContain(`"event":{"name":"${name}","data":${data}}`)
    const { next, ...rest } = made.json as ScheduleEntry
    expect(rest).toMatchObject({ source: 'api', timezone: 'Asia/Kolkata', catchUp: 'one', paused: false })
    expect(next).toHaveLength(5)
    clock.jumpTo(Date.parse(next[0] as string))
    const [event] = await arrived(name, 1)
    expect(event).toMatchObject({ source: 'schedule', scheduledAt: next[0], triggered: [{ workflow: name }] })
    expect((await api.get(`/events/${event?.id}`)).text).toContain(`"data":${data}`)
    const runId = event?.triggered[0]?.runId as string
    await api.succeeded(runId)
    const last = { lastEventId: event?.id, lastRunId: runId, lastStatus: 'succeeded', lastAt: event?.receivedAt }
    expect(await entry(name)).toMatchObject({ ...last, next: next.slice(1).concat(expect.any(String)) })
  })

  test('is paused, resumed without making up, fired by hand, and deleted; each is in the audit log', async () => {
    const name = unique('poll')
    const [first] = (await put(name, { every: '1h', event: { name } })).next
    expect(await pause(name)).toMatchObject({ paused: true, next: [] })
    clock.jump(3 * HOUR)
    const fired = await fire(name)
    expect(fired).toMatchObject({ eventId: expect.stringMatching(/^evt_/), triggered: [] })
    const { next } = await resume(name)
    expect(Date.parse(next[0] as string)).toBe(Date.parse(first as string) + 3 * HOUR)
    clock.jumpTo(Date.parse(next[0] as string))
    const events = await arrived(name, 2)
    expect(events.map(({ id }) => id)).toContain(fired.eventId)
    expect((await api.request('DELETE', `/schedules/${name}`)).status).toBe(204)
    expect(await entry(name)).toBeUndefined()
    expect((await api.request('DELETE', `/schedules/${name}`)).status).toBe(404)
    clock.jump(5 * HOUR)
    const actions = ((await api.get('/control-actions?limit=50')).json as ControlAction[])
      .filter(({ detail }) => (detail as { id?: string } | undefined)?.id === name)
      .map(({ action }) => action)
    expect(actions).toEqual(['delete', 'resume', 'fire', 'pause', 'put'].map(verb => `schedule.${verb}`))
    expect(await eventsOf(name)).toHaveLength(2)
  })

  test('limits its event to the app that it names', async () => {
    const { name, app } = await nightly()
    await put(name, { every: '1h', event: { name, app: 'elsewhere' } })
    const { eventId, triggered } = await fire(name)
    expect(triggered).toEqual([])
    expect((await api.get(`/events/${eventId}/why`)).json).toMatchObject({
      workflows: [{ workflow: name, app, outcome: 'other-app' }],
    })
    await put(name, { every: '1h', event: { name, app } })
    expect((await fire(name)).triggered).toMatchObject([{ workflow: name, app }])
  })

  test('shows its cron as given, and can be put as it is shown', async () => {
    const name = unique('zoned')
    const cron = '0 9 * * *'
    const given = [
      [
        { cron, timezone: 'Europe/Vienna' },
        { cron, timezone: 'Europe/Vienna' },
      ],
      [{ cron: `TZ=Europe/Vienna ${cron}` }, { cron: `TZ=Europe/Vienna ${cron}`, timezone: 'Europe/Vienna' }],
      [{ cron }, { cron, timezone: 'UTC' }],
    ] as const
    for (const [times, shown] of given) {
      const { next, ...made } = await put(name, { ...times, event: { name } })
      expect(made).toMatchObject(shown)
      expect(await entry(name)).toEqual({ ...made, next })
      expect(await put(name, { cron: made.cron, timezone: made.timezone, event: { name } })).toEqual({ ...made, next })
    }
  })

  test('that is fired by hand has that as its last time, and keeps its instants', async () => {
    const { name } = await nightly()
    const { next } = await put(name, { every: '1h', event: { name } })
    clock.jump(HOUR / 4)
    const first = await fire(name)
    await api.succeeded(first.runId as string)
    const { receivedAt: lastAt } = await api.event(first.eventId as string)
    const last = { lastAt, lastEventId: first.eventId, lastRunId: first.runId, lastStatus: 'succeeded' }
    expect(await entry(name)).toMatchObject({ ...last, next })
    await put(name, { every: '1h', event: { name: `${name}-unheard` } })
    await pause(name)
    const { eventId } = await fire(name)
    const { lastRunId, ...second } = (await entry(name)) as ScheduleEntry
    expect([lastRunId, second]).toEqual([undefined, expect.objectContaining({ lastEventId: eventId, paused: true })])
    expect((await resume(name)).next).toEqual(next)
    clock.jumpTo(Date.parse(next[0] as string))
    const [event] = await arrived(`${name}-unheard`, 2)
    expect(event).toMatchObject({ scheduledAt: next[0] })
    await until(async () => (await entry(name))?.lastEventId === event?.id)
  })

  test('takes data as deep as an event does', async () => {
    const name = unique('deep')
    const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`
    const given = (levels: number) => `{"every":"1h","event":{"name":"${name}","data":${nested(levels)}}}`
    const made = await api.put(`/schedules/${name}`, given(200))
    expect([made.status, made.text]).toEqual([200, expect.stringContaining(nested(200))])
    expect((await api.postText('/events', `{"name":"${name}","data":${nested(200)}}`)).status).toBe(202)
    expect(await api.put(`/schedules/${name}`, given(201))).toMatchObject({ status: 400, code: 'invalid_json' })
  })

  test('has no instant after the year 9999', async () => {
    const name = unique('last')
    const { next } = await put(name, { every: '366d', event: { name }, startsAt: '9999-06-01T00:00:00Z' })
    expect(next).toEqual(['9999-06-01T00:00:00.000Z'])
  })

  test('ends before endsAt, and begins with startsAt', async () => {
    const name = unique('short')
    const at = (ms: number) => new Date(clock.now() + ms).toISOString()
    const [startsAt, endsAt] = [at(HOUR), at(3 * HOUR)]
    const { next } = await put(name, { every: HOUR, event: { name, app: 'shop' }, startsAt, endsAt })
    expect(next).toEqual([startsAt, at(2 * HOUR)])
    for (const instant of next) {
      clock.jumpTo(Date.parse(instant))
      await until(async () =>
        (await eventsOf(name)).some(({ scheduledAt, app }) => scheduledAt === instant && app === 'shop'),
      )
    }
    expect(await entry(name)).toMatchObject({ next: [], paused: false })
  })

  test('that is put again with an end counts its interval from its creation', async () => {
    const name = unique('ending')
    const { next } = await put(name, { every: '1h', event: { name } })
    clock.jump(0.75 * HOUR)
    const endsAt = new Date(clock.now() + HOUR / 2).toISOString()
    expect((await put(name, { every: '1h', event: { name }, endsAt })).next).toEqual(next.slice(0, 1))
    const early = new Date(clock.now() + HOUR / 4).toISOString()
    const { status, text } = await api.put(`/schedules/${name}`, { every: '1h', event: { name }, endsAt: early })
    expect([status, text]).toEqual([400, expect.stringContaining('endsAt must be after the next scheduled time')])
  })

  test('fires once for the instants that passed without an engine, or for each of them', async () => {
    const clock = new JumpClock()
    const first = await openEngine({ onDisk: true, clock })
    for (const catchUp of ['one', 'all'])
      await first.api.put(`/schedules/${catchUp}`, { every: '1h', catchUp, event: { name: catchUp } })
    await first.stop()
    clock.jump(4.5 * HOUR)
    const second = await openEngine({ storeFile: first.storeFile, clock })
    const counts = async () =>
      Promise.all(
        ['one', 'all'].map(async name => ((await second.api.get(`/events?name=${name}`)).json as EventRecord[]).length),
      )
    await until(async () => (await counts()).join() === '1,4', { what: 'one and four events' })
    expect(((await second.api.get('/schedules')).json as ScheduleEntry[]).map(({ lateMs }) => lateMs)).toEqual([
      undefined,
      undefined,
    ])
    await second.stop()
  })
})

describe('a schedule of a workflow', () => {
  test('is listed beside the others, in pages', async () => {
    const { id, name, app } = await nightly()
    const own = unique('own')
    await put(own, { every: '1h', event: { name: own } })
    expect(await entry(id)).toMatchObject({
      source: 'workflow',
      workflow: name,
      app,
      cron: '0 2 * * *',
      timezone: 'UTC',
    })
    const all = await listed('?limit=200')
    expect((await api.pages('/schedules?limit=2')).flat()).toEqual(all)
    const sources = all.map(({ source }) => source)
    expect(sources).toEqual(sources.toSorted().reverse())
    expect((await listed('?source=api&limit=200')).every(({ source }) => source === 'api')).toBe(true)
    expect((await listed('?source=workflow&limit=200')).map(({ id }) => id)).toContain(id)
  })

  test('starts nothing while it is paused, also after a registration, and does not make up', async () => {
    const { id, name } = await nightly('0 * * * *')
    expect(await pause(id)).toMatchObject({ id, paused: true, next: [] })
    const runner = await openRunner({ app: id.split(':')[1] as string, workflows: {} })
    clock.jump(3 * HOUR)
    const { runId } = await fire(id)
    await api.succeeded(runId as string)
    const [next] = (await resume(id)).next
    expect((await runsOf(name)).map(run => run.id)).toEqual([runId])
    clock.jumpTo(Date.parse(next as string))
    await until(async () => (await runsOf(name)).length === 2)
    expect(await entry(id)).toMatchObject({ paused: false, lastRunId: (await runsOf(name))[0]?.id })
    await runner.close()
  })

  test('is changed by its registration alone', async () => {
    const { id, name } = await nightly()
    expect(await api.put(`/schedules/${id}`, { every: '1h', event: { name: 'x' } })).toMatchObject({ code: 'conflict' })
    expect(await api.request('DELETE', `/schedules/${id}`)).toMatchObject({ code: 'conflict' })
    expect((await api.post(`/schedules/${id}9/pause`)).status).toBe(404)
    expect((await api.post('/schedules/wf:x/pause')).status).toBe(404)
    // Different texts of the same number are different ids.
    for (const n of ['', '00', '0x0', '-0', '0.0', '%200'])
      for (const verb of ['pause', 'fire'])
        expect((await api.post(`/schedules/${id.slice(0, -1)}${n}/${verb}`)).status, n).toBe(404)
    expect([await entry(id), await runsOf(name)]).toMatchObject([{ paused: false }, []])
  })

  test('has an id of its own, whatever colons the names have', async () => {
    const registration = { triggers: [{ cron: '0 2 * * *' }] }
    const served = [
      ['split', 'in:two', 'wf:split:in:two:0'],
      ['split:in', 'two', 'wf:split%3Ain:two:0'],
      ['split%3Ain', 'two', 'wf:split%253Ain:two:0'],
      ['50% off', 'two', 'wf:50% off:two:0'],
    ] as const
    for (const [app, name] of served)
      await (await openRunner({ app, workflows: { [name]: { handler: flow([]), registration } } })).register(api)
    const ids = (await listed('?source=workflow&limit=200')).map(({ id }) => id)
    expect(ids).toEqual(expect.arrayContaining(served.map(([, , id]) => id)))
    for (const [app, workflow, id] of served) {
      const { runId } = await fire(encodeURIComponent(id))
      expect(await api.run(runId as string)).toMatchObject({ app, workflow })
    }
  })
})

test.each([
  [{ every: '1h' }, /event/],
  [{ event: { name: 'n' } }, /cron or every must be given, not both/],
  [{ every: '1h', cron: '* * * * *', event: { name: 'n' } }, /cron or every must be given, not both/],
  [{ every: 999, event: { name: 'n' } }, /every must be from 1 second to 366 days/],
  [{ every: '367d', event: { name: 'n' } }, /every must be from 1 second to 366 days/],
  [{ every: 'often', event: { name: 'n' } }, /every must be/],
  [{ every: '1h', timezone: 'Europe/Paris', event: { name: 'n' } }, /timezone is only for cron/],
  [{ cron: '* *', event: { name: 'n' } }, /cron must have five fields/],
  [
    { cron: '0 0 * * *', timezone: 'Mars/Base', event: { name: 'n' } },
    /timezone must be the name of a time zone, such as Europe\/Berlin, not ..Mars\/Base/,
  ],
  [
    { cron: 'TZ=Europe/Paris 0 0 * * *', timezone: 'UTC', event: { name: 'n' } },
    /timezone must be the zone that TZ= in cron names/,
  ],
  [{ every: '1h', event: { name: 'n', colour: 'red' } }, /event\.colour/],
  [{ every: '1h', catchUp: 'some', event: { name: 'n' } }, /catchUp/],
  [
    { every: '1h', endsAt: '2001-01-01T00:00:00Z', event: { name: 'n' } },
    /endsAt must be after the next scheduled time/,
  ],
  [
    { every: '1h', startsAt: '2041-01-02T00:00:00Z', endsAt: '2041-01-01T00:00:00Z', event: { name: 'n' } },
    /endsAt must be after startsAt/,
  ],
  [
    { cron: '0 0 1 1 *', startsAt: '9999-06-01T00:00:00Z', event: { name: 'n' } },
    /startsAt must not be after the last scheduled time/,
  ],
  [
    { every: '1h', startsAt: '9999-12-31T23:59:59-23:00', event: { name: 'n' } },
    /startsAt must not be after the year 9999/,
  ],
  [
    { every: '1h', endsAt: '9999-12-31T23:59:59-23:00', event: { name: 'n' } },
    /endsAt must not be after the year 9999/,
  ],
])('%j is refused', async (body, message) => {
  const { status, text } = await api.put('/schedules/refused', body)
  expect([status, text]).toEqual([400, expect.stringMatching(message)])
})

test('a dry run answers when a schedule would fire, and stores nothing', async () => {
  const [id, body] = [unique('dry'), { cron: '0 9 * * 1', timezone: 'Europe/Berlin', event: { name: 'n' } }]
  const { next, ...rest } = await put(id, { ...body, dryRun: true })
  expect(await entry(id)).toBeUndefined()
  expect(await put(id, body)).toEqual({ ...rest, next })
  const hourly = await put(id, { every: '1h', event: { name: 'n' }, dryRun: true })
  expect(hourly.every).toBe(HOUR)
  expect((await entry(id))?.cron).toBe(body.cron)
  expect(await api.put(`/schedules/${id}`, { ...body, cron: '0 9 * *', dryRun: true })).toMatchObject({ status: 400 })
  const actions = (await api.get('/control-actions?action=schedule.put&limit=500')).json as ControlAction[]
  expect(actions.filter(({ detail }) => JSON.stringify(detail).includes(id))).toHaveLength(1)
})

test('with ifAbsent a schedule is not replaced', async () => {
  const [id, body] = [unique('once'), { every: '1h', event: { name: 'n' } }]
  await put(id, { ...body, ifAbsent: true })
  const again = await api.put(`/schedules/${id}`, { ...body, every: '2h', ifAbsent: true })
  expect(again).toMatchObject({ status: 409, code: 'conflict' })
  expect(again.json).toMatchObject({ error: { details: { field: 'id' } } })
  expect((await entry(id))?.every).toBe(HOUR)
})

test('an id of another form is refused', async () => {
  const { status, text } = await api.put('/schedules/a%20b', { every: '1h', event: { name: 'n' } })
  expect([status, text]).toEqual([400, expect.stringContaining('[A-Za-z0-9_.-]{1,128}')])
})

test('schedules are listed with the soonest first, and those that missed instants alone, in pages', async () => {
  const clock = new JumpClock()
  const { api } = await openEngine({ clock })
  const cron = { triggers: [{ cron: '0 0 1 1 *' }] }
  const runner = await openRunner({ workflows: { yearly: { handler: flow([run('a')]), registration: cron } } })
  await runner.register(api)
  const put = (id: string, body: object) => api.put(`/schedules/${id}`, { event: { name: id }, ...body })
  await put('hours', { every: '3h' })
  await put('strict', { every: '1h', catchUp: 'none' })
  await put('paused', { every: '1h' })
  await api.post('/schedules/paused/pause')
  const list = async (query: string) => {
    const { json, headers } = await api.get(`/schedules?${query}`)
    return { ids: (json as ScheduleEntry[]).map(({ id }) => id), cursor: headers.get('x-next-cursor') }
  }
  const soonest = ['strict', 'hours', `wf:${runner.app}:yearly:0`]
  expect(await list('sort=next')).toEqual({ ids: soonest, cursor: null })
  expect((await list('sort=next&source=workflow')).ids).toEqual(soonest.slice(2))
  const first = await list('sort=next&limit=2')
  expect(first.ids).toEqual(soonest.slice(0, 2))
  expect(await list(`sort=next&limit=2&cursor=${first.cursor}`)).toEqual({ ids: soonest.slice(2), cursor: null })
  expect(await api.get(`/schedules?limit=2&cursor=${first.cursor}`)).toMatchObject({ code: 'invalid_cursor' })
  expect((await list('sort=missed')).ids).toEqual([])
  clock.jump(2 * HOUR + 120_000)
  await until(async () => (await list('sort=missed')).ids.length > 0)
  expect(await list('sort=missed')).toEqual({ ids: ['strict'], cursor: null })
  const [entry] = (await api.get('/schedules?sort=missed')).json as ScheduleEntry[]
  expect(entry?.missed).toMatchObject({ count: 2, cause: 'no-engine' })
})
