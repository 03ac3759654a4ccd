import { describe, expect, test } from 'vitest'
import { EngineError } from '../../../domain/model/errors.ts'
import { anEvent, messageOf, postJson, refusal, testApp } from '../../http.testkit.ts'

const post = async (body: unknown) => {
  const { app, faces } = testApp()
  return { response: await postJson(app, '/events', JSON.stringify(body)), faces }
}

describe('POST /events', () => {
  test('hands the event on and answers 202 with the outcome', async () => {
    const { app, faces } = testApp()
    const outcome = {
      eventId: 'evt_9',
      runId: 'run_1',
      woke: 2,
      triggered: [{ workflow: 'w', app: 'shop', runId: 'run_1' }],
    }
    faces.send = async () => outcome
    const body = { name: 'n', app: 'a', data: [1], dedupeId: 'd', runner: 'r', targetApp: 't', unknown: 1 }
    const response = await postJson(app, '/events', JSON.stringify(body))
    expect(response.statusCode).toBe(202)
    expect(response.headers['content-type']).toBe('application/json; charset=utf-8')
    expect(response.json()).toEqual(outcome)
    const { unknown: _, ...known } = body
    expect(faces.sent).toEqual([{ namespace: 'default', event: { ...known, data: '[1]' } }])
  })

  test('what is absent stays absent', async () => {
    const { faces } = await post({ name: 'n' })
    expect(Object.keys(faces.sent[0]?.event ?? {})).toEqual(['name'])
  })

  test('a duplicate answers just deduped', async () => {
    const { app, faces } = testApp()
    faces.send = async () => ({ deduped: true })
    expect((await postJson(app, '/events', '{"name":"n"}')).body).toBe('{"deduped":true}')
  })

  const bounds = { name: 256, app: 128, runner: 128, targetApp: 128, dedupeId: 256 }

  test.each(Object.entries(bounds))('%s has at most %i characters', async (field, max) => {
    const fits = await post({ name: 'n', [field]: '😀'.repeat(max) })
    expect(fits.response.statusCode).toBe(202)
    const { response, faces } = await post({ name: 'n', [field]: 'x'.repeat(max + 1) })
    expect(refusal(response)).toBe('400 invalid_request')
    expect(messageOf(response)).toBe(`${field} must not have more than ${max} characters`)
    expect(faces.sent).toEqual([])
  })

  test.each(
    Object.keys(bounds).flatMap(field =>
      ['', '  ', '\t', 'a\u0000b', 'a\nb', '\ud800', null, 7, true, ['x'], { x: 1 }].map(value => [
        field,
        value,
      ]),
    ),
  )('%s may not be %j', async (field, value) => {
    const { response, faces } = await post({ name: 'n', [field as string]: value })
    expect(refusal(response)).toBe('400 invalid_request')
    expect(messageOf(response).startsWith(`${field} `)).toBe(true)
    expect(response.json().error.details).toEqual({ field })
    expect(faces.sent).toEqual([])
  })

  test.each([[{}], [{ app: 'shop' }], [[]], ['n'], [null], [1]])('without a name: %j', async body => {
    expect(refusal((await post(body)).response)).toBe('400 invalid_request')
  })

  test('without a body', async () => {
    const { app } = testApp()
    const response = await app.inject({ method: 'POST', url: '/events' })
    expect(refusal(response)).toBe('400 invalid_request')
  })

  test('an overloaded engine says when to come back', async () => {
    const { app, faces } = testApp()
    faces.send = () => Promise.reject(new EngineError('overloaded', 'too many events in flight'))
    const response = await postJson(app, '/events', '{"name":"n"}')
    expect(refusal(response)).toBe('503 overloaded')
    expect(response.headers['retry-after']).toBe('1')
  })
})

describe('GET /events', () => {
  const stocked = (count: number) => {
    const { app, faces } = testApp()
    for (let i = 1; i <= count; i++) {
      faces.shelf().eventRows.push({ position: i, event: anEvent({ id: `evt_${i}`, data: `${i}.0` }) })
    }
    return { app, faces }
  }
  const ids = (response: { body: string }): string[] =>
    JSON.parse(response.body).map((event: { id: string }) => event.id)

  test('answers newest first, data to the letter', async () => {
    const { app } = stocked(2)
    const response = await app.inject('/events')
    expect(ids(response)).toEqual(['evt_2', 'evt_1'])
    expect(response.body).toContain('"data":2.0}')
    expect(response.headers['x-next-cursor']).toBeUndefined()
  })

  test('an empty log is an empty list', async () => {
    const { app } = stocked(0)
    expect((await app.inject('/events')).body).toBe('[]')
  })

  test('pages meet every event once, also while new ones arrive', async () => {
    const { app, faces } = stocked(5)
    const first = await app.inject('/events?limit=2')
    expect(ids(first)).toEqual(['evt_5', 'evt_4'])
    faces.shelf().eventRows.push({ position: 6, event: anEvent({ id: 'evt_6' }) })
    const second = await app.inject(`/events?limit=2&cursor=${first.headers['x-next-cursor']}`)
    expect(ids(second)).toEqual(['evt_3', 'evt_2'])
    const third = await app.inject(`/events?limit=9&cursor=${second.headers['x-next-cursor']}`)
    expect(ids(third)).toEqual(['evt_1'])
    expect(third.headers['x-next-cursor']).toBeUndefined()
  })

  test('a page that ends exactly at the last row has no cursor', async () => {
    const { app } = stocked(2)
    expect((await app.inject('/events?limit=2')).headers['x-next-cursor']).toBeUndefined()
  })

  test.each([
    ['', 101],
    ['limit=0', 2],
    ['limit=-1', 2],
    ['limit=1000', 1001],
    ['limit=5000', 1001],
  ])('%s asks for %i rows', async (query, limit) => {
    const { app, faces } = stocked(0)
    await app.inject(`/events?${query}`)
    expect(faces.shelf().calls[0]?.[1]).toMatchObject({ limit })
  })

  test('filters by app and name', async () => {
    const { app, faces } = stocked(0)
    await app.inject('/events?app=shop&name=order%2Fcreated')
    expect(faces.shelf().calls[0]?.[1]).toMatchObject({ app: 'shop', name: 'order/created' })
  })

  test.each([
    'limit=x',
    'limit=',
    'limit=1.5',
    'app=',
    'name=%20',
    'app=a&app=b',
    'limit=1&limit=1',
    'name=a%00',
  ])('%s is refused', async query => {
    const { app } = stocked(0)
    expect(refusal(await app.inject(`/events?${query}`))).toBe('400 invalid_request')
  })

  test('a cursor is good for its filter and list only', async () => {
    const { app, faces } = stocked(3)
    faces.addKey('mine', {})
    faces.addKey('theirs', { namespace: 'theirs' })
    const mine = { authorization: 'Bearer mine' }
    const cursor = (await app.inject({ url: '/events?limit=1', headers: mine })).headers['x-next-cursor']
    const ask = (url: string, key = 'mine') =>
      app.inject({ url: `${url}cursor=${cursor}`, headers: { authorization: `Bearer ${key}` } })
    expect((await ask('/events?')).statusCode).toBe(200)
    expect(refusal(await ask('/events?app=shop&'))).toBe('400 invalid_cursor')
    expect(refusal(await ask('/runs?'))).toBe('400 invalid_cursor')
    expect(refusal(await ask('/events?', 'theirs'))).toBe('400 invalid_cursor')
    expect(refusal(await app.inject({ url: '/events?cursor=x', headers: mine }))).toBe('400 invalid_cursor')
    expect(refusal(await app.inject({ url: '/events?cursor=', headers: mine }))).toBe('400 invalid_cursor')
  })
})

describe('GET /events/{id}', () => {
  test('one event', async () => {
    const { app, faces } = testApp()
    faces.shelf().eventRows.push({ position: 1, event: anEvent({ data: '1.0' }) })
    const response = await app.inject('/events/evt_1')
    expect(response.statusCode).toBe(200)
    expect(response.body).toContain('"data":1.0}')
  })

  test.each(['evt_2', '%00', '..%2f', 'x'.repeat(200), 'x'.repeat(2000)])('%s is not found', async id => {
    const { app, faces } = testApp()
    faces.shelf('other').eventRows.push({ position: 1, event: anEvent({ id: 'evt_2', namespace: 'other' }) })
    expect(refusal(await app.inject(`/events/${id}`))).toBe('404 not_found')
  })
})
