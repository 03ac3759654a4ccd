// WaitForEvent: which event settles a wait, with which result, and which guards hold the decision (docs/events.md#waits).

import { describe, expect, it } from 'vitest'
import { given } from '../../testkit/given.testkit.ts'
import { emits, event, NOW, ran, reported, run, succeeded, waiting, waitsFor } from '../../testkit/nouns.testkit.ts'

const paid = (id: string, data?: string) => event(id, 'order.paid', data === undefined ? {} : { data })
const eventsGuard = (after: number | 'run') => ({
  type: 'events',
  namespace: 'default',
  eventName: 'order.paid',
  runId: run().id,
  after,
})

describe('a wait that finds no event', () => {
  it('rests on there being none of the name since the run was created', () => {
    const then = given(run()).when(reported(waitsFor('paid', 'order.paid')))
    expect(then.guards).toContainEqual(eventsGuard('run'))
  })
})

describe('a wait with a filter', () => {
  const mine = waitsFor('paid', 'order.paid', { if: 'async.data.id == event.data.id' })
  const order = run({ trigger: { name: 'order' }, input: '{"id":7}' })
  const about = (id: string, data: string) => event(id, 'order.paid', { data })

  it('takes the oldest earlier event that meets it', () => {
    const then = given(order)
      .logged('order.paid', [about('evt_1', '{"id":6}'), about('evt_2', '{"id":7}'), about('evt_3', '{"id":7}')], 3)
      .when(reported(mine))
    expect(then.step('paid')).toMatchObject({ status: 'succeeded', eventId: 'evt_2' })
  })

  it('parks with its filter when none does: not even one that the filter fails on', () => {
    const then = given(order)
      .logged('order.paid', [about('evt_1', '{"id":6}'), about('evt_2', '{}')], 2)
      .when(reported(mine))
    expect(then.step('paid')).toMatchObject({
      status: 'waiting',
      condition: 'async.data.id == event.data.id',
    })
    expect(then.guards).toContainEqual(eventsGuard(2))
  })

  it('is met by an event of the same pass', () => {
    const then = given(order).when(reported(emits('tell', 'order.paid', '{"id":7}'), mine))
    expect(then.step('paid').status).toBe('succeeded')
    const other = given(order).when(reported(emits('tell', 'order.paid', '{"id":8}'), mine))
    expect(other.step('paid').status).toBe('waiting')
  })

  it.each(['async.data.id ==', 'nobody.data.id == 1', '1 + 1'])('that is %s fails its step', source => {
    const then = given(order).when(reported(waitsFor('paid', 'order.paid', { if: source })))
    expect(then.step('paid')).toMatchObject({ status: 'failed', error: { name: 'WaitFilterError' } })
  })
})

describe('a wait with a timeout', () => {
  it('of no time gives null at once, but an earlier event first', () => {
    const now = waitsFor('paid', 'order.paid', { timeoutMs: 0 })
    expect(given(run()).when(reported(now)).step('paid')).toMatchObject({
      status: 'succeeded',
      data: 'null',
      timedOut: true,
    })
    const found = given(run())
      .logged('order.paid', [paid('evt_1')], 1)
      .when(reported(now))
    expect(found.step('paid')).toMatchObject({ eventId: 'evt_1' })
    expect(found.step('paid').timedOut).toBeUndefined()
  })
})

describe('a wait that finds an earlier event', () => {
  const found = given(run())
    .logged('order.paid', [paid('evt_1', '{"by": "card"}'), paid('evt_2')], 9)
    .when(reported(waitsFor('paid', 'order.paid')))

  it('takes the oldest, and the next pass follows at once', () => {
    expect(found.step('paid')).toMatchObject({ status: 'succeeded', eventId: 'evt_1', finishedAt: NOW })
    expect(found.next).toBe('pass')
  })
})

describe('what the handler was given when it asked for a wait', () => {
  const got = (name: string, eventId: string, fields = {}) =>
    waiting(name, 'order.paid', { status: 'succeeded', eventId, ...fields })
  const known = given(run(), got('a', 'evt_1'), got('b', 'evt_2')).logged(
    'order.paid',
    [paid('evt_1'), paid('evt_2')],
    9,
  )
  const asks = (fields: object) => reported(waitsFor('c', 'order.paid', fields))

  it('is all of its memo, where the runner does not say', () => {
    expect(known.when(asks({})).step('c').status).toBe('waiting')
    expect(known.sent(NOW, 1).when(asks({})).step('c').eventId).toBe('evt_2')
  })

  it('is what the runner says: the first of its memo, with exceptions', () => {
    expect(known.when(asks({ given: { settled: 2 } })).step('c').status).toBe('waiting')
    expect(known.when(asks({ given: { settled: 1 } })).step('c').eventId).toBe('evt_2')
    expect(known.when(asks({ given: { settled: 2, except: ['evt_1'] } })).step('c').eventId).toBe('evt_1')
  })

  it('does not count for a wait since now, which takes no event of the log', () => {
    const then = known.when(asks({ since: 'now', given: { settled: 0 } }))
    expect(then.step('c').status).toBe('waiting')
    expect(then.guards.map(({ type }) => type)).not.toContain('events')
  })
})

describe('events of several names', () => {
  const shipped = (id: string) => event(id, 'order.shipped', {})

  it('settle waits of one pass in the order of the log', () => {
    const then = given(run())
      .logged('order.paid', [paid('evt_2')], 9)
      .logged('order.shipped', [shipped('evt_1')], 8)
      .when(reported(waitsFor('paid', 'order.paid'), ran('charge'), waitsFor('shipped', 'order.shipped')))
    expect(then.step('shipped').seq).toBeLessThan(then.step('charge').seq)
    expect(then.step('charge').seq).toBeLessThan(then.step('paid').seq)
  })

  it('come in the order of the log, even if the earlier one was asked for while the later one settled', () => {
    const settled = { ...waiting('paid', 'order.paid', { status: 'succeeded', eventId: 'evt_2' }) }
    const before = given(run(), succeeded('first'), settled)
      .sent(NOW, 1)
      .logged('order.shipped', [shipped('evt_1')], 8)
    const asked = before.when(reported(waitsFor('shipped', 'order.shipped')))
    expect(asked.guards).toContainEqual({ ...eventsGuard('run'), runId: run().id })
    const then = before.logged('order.paid', [paid('evt_2')], 9).when(reported(waitsFor('shipped', 'order.shipped')))
    expect(then.step('shipped').seq).toBeLessThan(then.step('paid').seq)
    const { state } = then.afterCommit()
    expect(state.settled.map(({ name }) => name)).toEqual(['first', 'shipped', 'paid'])
    expect(Object.keys(JSON.parse(state.memo(NOW)))).toEqual(state.settled.map(({ id }) => id))
  })
})

describe('a wait beside an emit of its name in one pass', () => {
  const emit = emits('pay', 'order.paid', '1')
  const wait = waitsFor('paid', 'order.paid')

  it.each([
    ['after it', [emit, wait]],
    ['before it', [wait, emit]],
  ])('reported %s takes the emitted event', (_, opcodes) => {
    const then = given(run()).when(reported(...opcodes))
    expect(then.step('paid')).toMatchObject({
      status: 'succeeded',
      eventId: then.step('pay').emittedEventId,
    })
    expect(then.next).toBe('pass')
  })
})
