// An event: which steps it wakes, which runs it starts, and what its record contains (docs/events.md#send-an-event).

import { describe, expect, it } from 'vitest'
import type { Waiter } from '../model/event.ts'
import { noAssumptions } from '../run/assumptions.ts'
import { catalog, event, NOW, workflow } from '../testkit/nouns.testkit.ts'
import { eventResult, type FanoutInput, fanout } from './fanout.ts'

const placed = event('evt_1', 'order.placed', { data: '{"n": 1.0}', receivedAt: NOW })
const onPlaced = { triggers: [{ event: 'order.placed' }] }
const everywhere = catalog(
  workflow('bill', onPlaced),
  workflow('mail', { ...onPlaced, app: 'post' }),
  workflow('ship', { triggers: [{ event: 'order.*' }] }),
  workflow('other'),
)

type Input = Partial<FanoutInput> & { waiters?: readonly Waiter[] }
const spread = ({ waiters = [], ...input }: Input = {}) => {
  const known = { ...noAssumptions(), waiters: new Map([[placed.name, waiters]]) }
  return fanout({ event: placed, catalog: everywhere, assumptions: known, report: () => {}, ...input })
}
const started = (input: Input = {}) =>
  spread(input).changes.flatMap(change => (change.type === 'run.created' ? [change.run] : []))
const names = (input: Input = {}) => started(input).map(({ workflow }) => workflow)

describe('an event', () => {
  it('starts a run of every workflow it triggers, exactly or by wildcard, in every app', () => {
    expect(names()).toEqual(['bill', 'mail', 'ship'])
  })

  it('that names an app starts those of that app only', () => {
    expect(names({ event: { ...placed, app: 'post' } })).toEqual(['mail'])
  })

  it('that names a target app starts those of that one, and its record keeps the app', () => {
    const input = { event: { ...placed, app: 'post' }, targetApp: 'shop' }
    expect(names(input)).toEqual(['bill', 'ship'])
    expect(spread(input).changes[0]).toMatchObject({ type: 'event.recorded', event: { app: 'post' } })
  })

  it('that a workflow emitted is a broadcast, though recorded under its app', () => {
    expect(names({ event: { ...placed, app: 'post', source: 'emit' } })).toEqual(['bill', 'mail', 'ship'])
  })

  it('that matches nothing is recorded', () => {
    const none = spread({ catalog: catalog() })
    expect(none).toMatchObject({ woke: 0, triggered: [], wakes: [] })
    expect(none.changes).toEqual([{ type: 'event.recorded', event: { ...placed, woke: 0, triggered: [] } }])
  })
})

describe('a run that an event starts', () => {
  it('is queued with the event as its trigger and its unchanged data as its input', () => {
    expect(started()[0]).toEqual({
      namespace: 'default',
      id: started()[0]?.id,
      workflow: 'bill',
      app: 'shop',
      status: 'queued',
      triggerKind: 'event',
      eventName: 'order.placed',
      eventId: 'evt_1',
      trigger: { id: 'evt_1', name: 'order.placed' },
      input: '{"n": 1.0}',
      attempt: 1,
      transportTries: 0,
      fence: 0,
      createdAt: NOW,
      availableAt: NOW,
    })
  })
})

describe('the waits for an event', () => {
  const one = { runId: 'run_1', stepIndex: 2, since: 1 }
  const later = { runId: 'run_1', stepIndex: 5, since: 3 }
  const two = { runId: 'run_2', stepIndex: 0, since: 2 }

  it('are all woken, over all apps, and woke counts their runs', () => {
    const { wakes, woke } = spread({ waiters: [one, two, later], event: { ...placed, app: 'post' } })
    expect(wakes.map(({ runId, stepIndex }) => [runId, stepIndex])).toEqual([
      ['run_1', 2],
      ['run_2', 0],
      ['run_1', 5],
    ])
    expect(woke).toBe(2)
  })

  it('get the event as their result', () => {
    expect(spread({ waiters: [two] }).wakes).toEqual([
      {
        type: 'step.woken',
        runId: 'run_2',
        stepIndex: 0,
        status: 'succeeded',
        data: eventResult(placed),
        eventId: 'evt_1',
        at: NOW,
      },
    ])
  })

  it('are woken when that is decided, for a wait may have begun since the event arrived', () => {
    expect(spread({ waiters: [two], now: NOW + 7 }).wakes).toMatchObject([{ at: NOW + 7 }])
  })

  it('guard the decision, also when there is none', () => {
    const guard = { type: 'waiters', namespace: 'default', eventName: 'order.placed' }
    expect(spread({ waiters: [one, two] }).guards).toContainEqual({ ...guard, waiters: [one, two] })
    expect(spread().guards).toContainEqual({ ...guard, waiters: [] })
  })

  it('that an earlier event of the same unit woke are skipped', () => {
    const { wakes, guards } = spread({ waiters: [one, later], alreadyWoken: new Set(['run_1#2']) })
    expect(wakes.map(({ stepIndex }) => stepIndex)).toEqual([5])
    expect(guards).toContainEqual(expect.objectContaining({ waiters: [one, later] }))
  })
})

describe('the result of a wait', () => {
  it('is the event: id, name, unchanged data, receivedAt', () => {
    const receivedAt = new Date(NOW).toISOString()
    expect(eventResult(placed)).toBe(
      `{"id":"evt_1","name":"order.placed","data":{"n": 1.0},"receivedAt":"${receivedAt}"}`,
    )
  })
})
