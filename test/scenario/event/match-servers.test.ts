// `match` of waits and of `cancelOn`: events find them by values at paths (docs/events.md#match). On both databases, with two
// engines on PostgreSQL.

import type { RunExplanation } from '@perdure/protocol'
import { describe, expect, test } from 'vitest'
import {
  emit,
  flow,
  type Handler,
  JumpClock,
  openEngines,
  openRunner,
  PLACES,
  type Step,
  step,
  unique,
  until,
  wait,
} from '../../kit/index.ts'

const FEATURES = { features: ['wait-order', 'continue-as'] }
const waitFor = (name: string, eventName: string, fields: object = {}): Step =>
  step('WaitForEvent', name, { eventName, ...fields })

describe.each(PLACES)('on %s', async (_, freshStore, count) => {
  const clock = new JumpClock()
  const env = { ENGINE_QUEUE: 'memory' }
  const { api, other } = await openEngines(freshStore, count, count > 1 ? { env } : { env, clock })

  async function serve(handler: Handler, registration: Record<string, unknown> = {}): Promise<string> {
    const name = unique('matching')
    const runner = await openRunner({ workflows: { [name]: { handler, registration } } })
    await runner.register(api, FEATURES)
    return name
  }

  /** Starts a run for each data value, and resolves when all of them wait. */
  async function started(name: string, ...data: unknown[]): Promise<string[]> {
    const ids: string[] = []
    for (const each of data) ids.push((await api.send({ name, data: each })).runId)
    for (const id of ids) await api.reaches(id, 'waiting')
    return ids
  }

  const sent = async (name: string, data: unknown) => (await other.send({ name, data })).woke
  const hold = flow([wait('hold', 'nothing')])

  test('a path takes the event with the value of the event that started the run', async () => {
    const event = unique('paid')
    const name = await serve(flow([waitFor('paid', event, { match: 'data.order.id' })]))
    const [one, text, none] = await started(name, { order: { id: 1 } }, { order: { id: '1' } }, { order: {} })
    expect(await sent(event, { order: { id: 2 } })).toBe(0)
    expect(await sent(event, { order: {} })).toBe(0)
    expect(await sent(event, { order: { id: '1' } })).toBe(1)
    await api.succeeded(text as string)
    expect(await sent(event, { order: { id: 1 }, more: true })).toBe(1)
    await api.succeeded(one as string)
    expect((await api.run(none as string)).status).toBe('waiting')
    expect(await api.step(none as string, 'paid')).toMatchObject({ eventName: event, match: 'data.order.id' })
  })

  test('all paths of a list, and all values of an object, must be the same, beside `if`', async () => {
    const event = unique('paid')
    const name = await serve(
      flow([
        [
          waitFor('both', event, { match: ['data.a', 'data.b'] }),
          waitFor('values', event, { match: { 'data.a': 7, 'data.b': null }, if: 'async.data.ok' }),
          waitFor('plain', event, { if: 'async.data.any' }),
        ],
      ]),
    )
    const [id] = (await started(name, { a: 1, b: true })) as [string]
    const open = async () => (await api.steps(id)).filter(({ status }) => status === 'waiting').map(({ name }) => name)
    expect(await sent(event, { a: 1, b: 1, ok: true, any: false })).toBe(0)
    expect(await sent(event, { a: 7, b: null, ok: false, any: false })).toBe(0)
    expect(await open()).toEqual(['both', 'values', 'plain'])
    expect(await sent(event, { a: 1, b: true, any: false })).toBe(1)
    expect(await open()).toEqual(['values', 'plain'])
    expect(await sent(event, { a: 7, b: null, ok: true, any: true })).toBe(1)
    await api.succeeded(id)
  })

  test('a wait looks back: it takes the oldest event since its run began that has the values', async () => {
    const [event, go] = [unique('paid'), unique('go')]
    const name = await serve(flow([wait('go', go), waitFor('paid', event, { match: 'data.id' })]))
    const [id] = (await started(name, { id: 1 })) as [string]
    const [, first] = [
      await api.send({ name: event, data: { id: 2 } }),
      await api.send({ name: event, data: { id: 1 } }),
    ]
    await api.send({ name: event, data: { id: 1 } })
    await api.send({ name: go })
    await api.succeeded(id)
    expect((await api.step(id, 'paid')).data).toMatchObject({ id: first.eventId })
  })

  test('an event that a run emits settles its own wait and those of other runs, with these values alone', async () => {
    const event = unique('told')
    const waiting = await serve(flow([waitFor('told', event, { match: 'data.id' })]))
    const [one, two] = await started(waiting, { id: 1 }, { id: 2 })
    const told = flow([
      [
        waitFor('mine', event, { match: { 'data.id': 2 } }),
        waitFor('other', event, { match: { 'data.id': 3 } }),
        emit('tell', event, { id: 2 }),
      ],
    ])
    const name = await serve(told)
    const { runId } = await api.send({ name })
    await api.succeeded(two as string)
    await until(async () => (await api.step(runId, 'mine')).status === 'succeeded')
    expect((await api.step(runId, 'other')).status).toBe('waiting')
    expect((await api.run(one as string)).status).toBe('waiting')
  })

  test('many waits with many lists of paths: each event wakes exactly its own', async () => {
    const event = unique('many')
    const handler: Handler = async (invoke, record) => {
      const { path } = invoke.event.data as { path: string }
      return flow([waitFor('many', event, { match: path })])(invoke, record)
    }
    const name = await serve(handler)
    // More lists than the engine looks up one by one.
    const data = Array.from({ length: 40 }, (_, i) => ({ path: `data.p${i}`, [`p${i}`]: i }))
    const ids = await started(name, ...data)
    expect(await sent(event, { p3: 4, p39: '39' })).toBe(0)
    expect(await sent(event, { p3: 3, p39: 39, p7: 8 })).toBe(2)
    await api.succeeded(ids[3] as string)
    await api.succeeded(ids[39] as string)
    const rest = data.flatMap((each, i) => (i === 3 || i === 39 ? [] : [each]))
    expect(await sent(event, Object.assign({}, ...rest))).toBe(38)
    for (const id of ids) await api.succeeded(id)
  })

  test('no wait is missed that begins while its event comes, at another engine', async () => {
    const event = unique('race')
    const name = await serve(flow([waitFor('race', event, { match: 'data.id' })]))
    const ids = Array.from({ length: 40 }, (_, id) => id)
    const runs = await Promise.all(ids.map(id => api.send({ name, data: { id } })))
    await Promise.all(ids.map(id => other.send({ name: event, data: { id } })))
    for (const [id, { runId }] of runs.entries()) {
      expect((await api.succeeded(runId)).result).toMatchObject({ race: { data: { id } } })
    }
  })

  test('cancelOn with a match cancels the runs with the same values', async () => {
    const stop = unique('stop')
    const name = await serve(hold, {
      cancelOn: [
        { event: stop, match: 'data.id' },
        { event: stop, match: { 'data.all': true } },
      ],
    })
    const [one, text, two] = await started(name, { id: 1 }, { id: '1' }, { id: 2 })
    expect(await other.send({ name: stop, data: { id: 1, all: false } })).toMatchObject({ woke: 0 })
    await api.reaches(one as string, 'cancelled')
    expect((await api.run(text as string)).status).toBe('waiting')
    await other.send({ name: stop, data: { id: 3, all: true } })
    for (const id of [text, two]) await api.reaches(id as string, 'cancelled')
  })

  test('every link of a chain, and a fork, has the match of its own event', async () => {
    const [stop, go] = [unique('stop'), unique('go')]
    const handler: Handler = async (invoke, record) => {
      const { link } = invoke.event.data as { link: number }
      if (link > 0) return flow([wait('go', go)])(invoke, record)
      return { status: 200, body: { continueAs: { data: { id: 2, link: 1 } }, logs: [] } }
    }
    const name = await serve(handler, { cancelOn: [{ event: stop, match: 'data.id' }] })
    const { runId } = await api.send({ name, data: { id: 1, link: 0 } })
    const last = await until(async () => {
      const { continuedAs } = await api.run(runId)
      return continuedAs
    })
    await api.reaches(last as string, 'waiting')
    await api.send({ name: stop, data: { id: 1 } })
    expect((await api.run(last as string)).status).toBe('waiting')
    await api.send({ name: stop, data: { id: 2 } })
    await api.reaches(last as string, 'cancelled')
    const forked = (await api.post(`/runs/${last}/replay`, {})).json as { id: string }
    await api.reaches(forked.id, 'waiting')
    await api.send({ name: stop, data: { id: 1 } })
    expect((await api.run(forked.id)).status).toBe('waiting')
    await api.send({ name: stop, data: { id: 2 } })
    await api.reaches(forked.id, 'cancelled')
  })

  test('why and the step show the match', async () => {
    const event = unique('paid')
    const name = await serve(flow([waitFor('paid', event, { match: { 'data.id': 7 } })]))
    const [id] = (await started(name, {})) as [string]
    const why = (await api.get(`/runs/${id}/why`)).json as RunExplanation
    expect(why.event).toEqual({ name: event, match: { 'data.id': 7 } })
  })

  if (count === 1) {
    test('cancelOn with a timeout cancels up to that time after the creation of the run, and not later', async () => {
      const stop = unique('stop')
      const name = await serve(hold, {
        cancelOn: [
          { event: stop, timeout: '10s' },
          { event: `${stop}.late`, timeout: '1m' },
        ],
      })
      const [first] = (await started(name, {})) as [string]
      clock.jump(10_000)
      const [second] = (await started(name, {})) as [string]
      await api.send({ name: stop })
      await api.reaches(first, 'cancelled')
      await api.reaches(second, 'cancelled')
      const [third] = (await started(name, {})) as [string]
      clock.jump(10_001)
      await api.send({ name: stop })
      expect((await api.run(third)).status).toBe('waiting')
      await api.send({ name: `${stop}.late` })
      await api.reaches(third, 'cancelled')
    })
  }
})
