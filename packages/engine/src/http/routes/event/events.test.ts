// The texts that the members of POST /events may have. test/scenario/event has the rest.

import { describe, expect, test } from 'vitest'
import { anEvent } from '../../../../../../test/kit/http/rows.ts'
import { messageOf, postJson, recordedData, refusal, testApp } from '../../../../../../test/kit/http/test-app.ts'

const { app, store } = await testApp()
const post = (body: unknown) => postJson(app, '/events', JSON.stringify(body))

describe('GET /events', () => {
  test('a page ends where its data is large, and a cursor leads to the rest', async () => {
    const { app, seed } = await testApp()
    const data = JSON.stringify('x'.repeat(1_000_000))
    const ids = Array.from({ length: 18 }, (_, i) => `evt_${String(i).padStart(2, '0')}`)
    for (const id of ids) await seed({ type: 'event.recorded', event: anEvent({ id, data }) })
    const found: string[] = []
    let pages = 0
    for (let cursor = ''; pages === 0 || cursor !== ''; pages++) {
      const page = await app.inject(`/events${cursor && `?cursor=${cursor}`}`)
      found.push(...(page.json() as { id: string }[]).map(({ id }) => id))
      cursor = String(page.headers['x-next-cursor'] ?? '')
    }
    expect([found, pages]).toEqual([ids.reverse(), 2])
  })
})

describe('POST /events', () => {
  test('records the given members, and no unknown or absent one', async () => {
    const body = { name: 'n', app: 'a', data: [1], dedupeId: 'd', runner: 'r', targetApp: 't' }
    const response = await post({ ...body, unknown: 1 })
    expect(response.statusCode).toBe(202)
    expect(response.headers['content-type']).toBe('application/json; charset=utf-8')
    const [row] = await store.in('default').events({ limit: 1 })
    expect(row?.event).toMatchObject({ name: 'n', app: 'a', data: '[1]' })
    expect(row?.event).not.toHaveProperty('unknown')
    expect((await post({ ...body, unknown: 1 })).body).toBe('{"deduped":true}')
    await post({ name: 'n' })
    const [bare] = await store.in('default').events({ limit: 1 })
    expect([bare?.event.app, bare?.event.data]).toEqual([undefined, undefined])
  })

  const bounds = { name: 256, app: 128, runner: 128, targetApp: 128, dedupeId: 256 }

  test.each(Object.entries(bounds))('%s has at most %i characters', async (field, max) => {
    const fits = await post({ name: 'n', [field]: '😀'.repeat(max) })
    expect(fits.statusCode).toBe(202)
    const before = await recordedData(store)
    const response = await post({ name: 'n', [field]: 'x'.repeat(max + 1) })
    expect(refusal(response)).toBe('400 invalid_request')
    expect(messageOf(response)).toBe(`${field} must not have more than ${max} characters`)
    expect(await recordedData(store)).toEqual(before)
  })

  const wrong = ['', '  ', '\t', 'a\u0000b', 'a\nb', '\ud800', null, 7, true, ['x'], { x: 1 }]

  test.each(Object.keys(bounds))('%s may not be blank, have control characters or be no string', async field => {
    const before = await recordedData(store)
    for (const value of wrong) {
      const response = await post({ name: 'n', [field]: value })
      expect(refusal(response), `${value}`).toBe('400 invalid_request')
      expect(messageOf(response).startsWith(`${field} `)).toBe(true)
      expect(response.json().error.details).toEqual({ field })
    }
    expect(await recordedData(store)).toEqual(before)
  })

  test.each([[{}], [{ app: 'shop' }], [[]], ['n'], [null], [1]])('is refused without a name: %j', async body => {
    expect(refusal(await post(body))).toBe('400 invalid_request')
  })
})
