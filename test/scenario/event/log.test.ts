// The durable log of events: `GET /events` and `GET /events/{id}` (docs/events.md#the-event-log).

import type { EventRecord } from '@perdure/protocol'
import { describe, expect, test } from 'vitest'
import { flow, scenario, unique, wait } from '../../kit/index.ts'

const { api, engine } = await scenario({ realTime: true })

const page = async (query: string) => {
  const answer = await api.get(`/events?${query}`)
  expect(answer.status).toBe(200)
  return { events: answer.json as EventRecord[], next: answer.headers.get('x-next-cursor') }
}

/** Sends `count` events of one name; returns their ids, newest first. */
async function sendMany(name: string, count: number): Promise<string[]> {
  const ids: string[] = []
  for (let i = 0; i < count; i++) ids.unshift((await api.send({ name, data: i })).eventId)
  return ids
}

describe('GET /events/{id}', () => {
  test('has every field, with what it woke and triggered', async () => {
    const [name, start] = [unique('event'), unique('start')]
    const runner = await engine.runner({
      workflows: {
        [start]: flow([wait('for it', name)]),
        [unique('listener')]: { handler: flow([]), registration: { triggers: [{ event: name }] } },
      },
    })
    const waiting = await api.send({ name: start })
    await api.reaches(waiting.runId, 'waiting')
    const accepted = await api.send({ name, app: runner.app, data: { x: 1 } })
    expect(accepted.woke).toBe(1)
    const { receivedAt, ...record } = await api.event(accepted.eventId)
    expect(record).toEqual({
      id: accepted.eventId,
      name,
      app: runner.app,
      source: 'api',
      data: { x: 1 },
      woke: 1,
      triggered: accepted.triggered,
    })
    expect(Math.abs(Date.parse(receivedAt) - Date.now())).toBeLessThan(60_000)
    expect((await api.run(accepted.runId)).eventId).toBe(accepted.eventId)
  })

  test.each(['evt_01ARZ3NDEKTSV4RRFFQ69G5FAV', 'nonsense', '%00', 'run_x'])('%s does not exist: 404', async id => {
    expect(await api.get(`/events/${id}`)).toMatchObject({ status: 404, code: 'not_found' })
  })
})

describe('GET /events', () => {
  test('is newest first, filtered by name', async () => {
    const name = unique('event')
    const ids = await sendMany(name, 3)
    await sendMany(unique('other'), 1)
    const { events, next } = await page(`name=${name}`)
    expect(events.map(({ id }) => id)).toEqual(ids)
    expect(events.map(({ data }) => data)).toEqual([2, 1, 0])
    expect(next).toBeNull()
  })

  test('is filtered by app', async () => {
    const [name, app] = [unique('event'), unique('app')]
    const { eventId } = await api.send({ name, app })
    await api.send({ name })
    expect((await page(`app=${app}`)).events.map(({ id }) => id)).toEqual([eventId])
    expect((await page(`app=${app}&name=${unique('none')}`)).events).toEqual([])
  })

  test('pages meet every event once, also while new ones arrive; the last has no X-Next-Cursor, even when it is full', async () => {
    const name = unique('event')
    const ids = await sendMany(name, 6)
    const met: string[] = []
    let query = `name=${name}&limit=3`
    for (;;) {
      const { events, next } = await page(query)
      met.push(...events.map(({ id }) => id))
      expect(events).toHaveLength(3)
      if (next === null) break
      await sendMany(name, 1)
      query = `name=${name}&limit=3&cursor=${encodeURIComponent(next)}`
    }
    expect(met).toEqual(ids)
  })

  test('limit is 100 by default and clamped to 1-1000', async () => {
    const name = unique('event')
    await Promise.all(Array.from({ length: 101 }, () => api.send({ name })))
    const lengths = [`name=${name}`, `name=${name}&limit=0`, `name=${name}&limit=-5`, `name=${name}&limit=99999`]
    const pages = await Promise.all(lengths.map(page))
    expect(pages.map(({ events }) => events.length)).toEqual([100, 1, 1, 101])
  })
})

describe('filters of the log', () => {
  test('by the beginning of the name, the source and the time of arrival; and the names that events have', async () => {
    const base = unique('filtered')
    const [first, second] = [(await sendMany(`${base}/one`, 1))[0], (await sendMany(`${base}/two`, 1))[0]]
    const arrived = (await api.event(second as string)).receivedAt
    const found = async (query: string) => (await page(query)).events.map(({ id }) => id)
    expect(await found(`prefix=${base}/&source=api`)).toEqual([second, first])
    expect(await found(`prefix=${base}/o`)).toEqual([first])
    expect(await found(`prefix=${base}/&source=emit`)).toEqual([])
    expect(await found(`prefix=${base}/&since=${arrived}`)).toContain(second)
    expect(await found(`prefix=${base}/&until=${arrived}`)).not.toContain(second)
    const names = await api.get(`/event-names?prefix=${base}/&limit=1`)
    expect(names.json).toMatchObject([{ name: `${base}/one`, lastEventId: first }])
    expect((await api.get(`/event-names?prefix=${base}/&since=${arrived}`)).json).toMatchObject([
      { name: `${base}/one` },
      { name: `${base}/two`, count: 1 },
    ])
    expect(await api.get('/event-names?since=yesterday')).toMatchObject({ status: 400, code: 'invalid_request' })
    const cursor = encodeURIComponent(names.headers.get('x-next-cursor') ?? '')
    const next = await api.get(`/event-names?prefix=${base}/&limit=1&cursor=${cursor}`)
    expect(next.json).toMatchObject([{ name: `${base}/two`, lastAt: arrived }])
    expect(next.headers.get('x-next-cursor')).toBeNull()
    expect(await api.get(`/event-names?cursor=${cursor}`)).toMatchObject({ status: 400, code: 'invalid_cursor' })
  })

  test.each(['source=mail', 'since=yesterday', 'until=5', 'prefix='])('refuse %s', async query => {
    expect(await api.get(`/events?${query}`)).toMatchObject({ status: 400, code: 'invalid_request' })
  })
})
