// Filters of scheduled events, on both databases (docs/events.md#send-an-event-later): a list and a deletion of matching events.

import type { ControlAction, ScheduledEvent, SendEventReply } from '@perdure/protocol'
import { describe, expect, test } from 'vitest'
import { apiKeys, JumpClock, keyOf, openEngine, STORES, unique, until } from '../../kit/index.ts'

describe.each(STORES)('on %s', async (_, freshStore) => {
  const clock = new JumpClock()
  const env = { ENGINE_API_KEYS: apiKeys('secret', 'event', 'read') }
  const engine = await openEngine({ storeFile: await freshStore(), clock, env })
  const api = engine.api.as(keyOf('secret'))

  /** Sends events for later, one minute apart. Returns their ids by letter. */
  async function scheduled(events: Record<string, object>): Promise<Record<string, string>> {
    const ids: Record<string, string> = {}
    let minutes = 60
    for (const [letter, event] of Object.entries(events)) {
      const { json } = await api.post('/events', { ...event, delay: `${minutes++}m` })
      ids[letter] = (json as SendEventReply).eventId as string
    }
    return ids
  }
  const listed = async (query: string) => {
    const { status, json } = await api.get(`/scheduled-events?${query}`)
    expect(status).toBe(200)
    return (json as ScheduledEvent[]).map(({ id }) => id)
  }
  const remove = (query: string, as = api) => as.request('DELETE', `/scheduled-events?${query}`)

  test('an event must match every filter; pages and the order are those of the whole list', async () => {
    const [name, other, key] = [unique('reminder'), unique('other'), unique('once')]
    const customer = unique('acct')
    const attributes = { customer, plan: 'pro', n: 7 }
    const { a, b, c, d } = await scheduled({
      a: { name, attributes },
      b: { name, attributes: { customer }, dedupeId: key },
      c: { name },
      d: { name: other, attributes, data: 'x'.repeat(300_000) },
    })
    expect(await listed(`name=${name}`)).toEqual([a, b, c])
    expect(await listed(`attribute=customer:${customer}`)).toEqual([a, b, d])
    expect(await listed(`attribute=customer:${customer}&attribute=plan:pro`)).toEqual([a, d])
    expect(await listed(`attribute=customer:${customer}&attribute=n:7&name=${name}`)).toEqual([a])
    expect(await listed(`key=${key}`)).toEqual([b])
    expect(await listed(`key=${key}&name=${other}`)).toEqual([])
    expect(await listed(`attribute=customer:${customer.slice(0, -1)}`)).toEqual([])
    const first = await api.get(`/scheduled-events?attribute=customer:${customer}&limit=2`)
    const cursor = first.headers.get('x-next-cursor')
    expect(await listed(`attribute=customer:${customer}&limit=2&cursor=${cursor}`)).toEqual([d])
    expect((await api.get(`/scheduled-events?name=${name}&cursor=${cursor}`)).code).toBe('invalid_cursor')
  })

  test('a deletion takes all that match, and the audit log has it; an event that has arrived is not found', async () => {
    const name = unique('dropped')
    const many = Array.from({ length: 450 }, (_, n) => ({ name, data: n, delay: '1h' }))
    await api.post('/events/batch', [...many, { name, delay: '1m', attributes: { kept: true } }])
    const { z } = await scheduled({ z: { name: `${name}.other` } })
    clock.jump(60_000)
    await until(async () => (await listed('attribute=kept:true')).length === 0)
    expect(await remove(`name=${name}&attribute=kept:true`)).toMatchObject({ status: 200, json: { deleted: 0 } })
    expect(await remove(`name=${name}`)).toMatchObject({ status: 200, json: { deleted: 450 } })
    expect(await listed(`name=${name}`)).toEqual([])
    expect(await listed(`name=${name}.other`)).toEqual([z])
    const actions = (await api.get('/control-actions?action=scheduled_event.delete')).json as ControlAction[]
    const counts = actions.map(({ detail }) => detail as { name?: string; deleted?: number })
    expect(counts.filter(detail => detail.name === name).reduce((sum, { deleted = 0 }) => sum + deleted, 0)).toBe(450)
    clock.jump(3_600_000)
    await until(async () => (await listed(`name=${name}.other`)).length === 0)
    expect((await api.get(`/events?name=${name}`)).json).toHaveLength(1)
  })

  test('a deletion needs a filter and a secret key', async () => {
    const refused = await remove('')
    expect(refused).toMatchObject({ status: 400, code: 'invalid_request' })
    expect(refused.text).toContain('name or attribute or key')
    expect(await remove('attribute=nocolon')).toMatchObject({ status: 400 })
    for (const kind of ['event', 'read']) expect((await remove('name=a', api.as(keyOf(kind)))).status).toBe(403)
  })
})
