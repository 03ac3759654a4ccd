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

  it('has its effects in its record and in its reply', () => {
    const { changes, woke, triggered } = spread({ waiters: [{ runId: 'run_9', stepIndex: 0, since: 1 }] })
    expect(changes[0]).toMatchObject({ event: { woke, triggered } })
    expect(woke).toBe(1)
    expect(triggered.map(({ workflow, app }) => [workflow, app])).toEqual([
      ['bill', 'shop'],
      ['mail', 'post'],
      ['ship', 'shop'],
    ])
    expect(triggered.map(({ runId }) => runId)).toEqual(started().map(({ id }) => id))
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

  it('is pinned when the event names a runner', () => {
    expect(started({ pin: 'r1' }).map(({ runner }) => runner)).toEqual(['r1', 'r1', 'r1'])
    expect(started()[0]).not.toHaveProperty('runner')
  })

  it('has no input when the event has no data, and null when it has null', () => {
    const { data: _, ...bare } = placed
    expect(started({ event: bare })[0]).not.toHaveProperty('input')
    expect(started({ event: { ...placed, data: 'null' } })[0]?.input).toBe('null')
  })

  it('has an id that follows from the event: the same decision gives the same run', () => {
    expect(started().map(({ id }) => id)).toEqual(started().map(({ id }) => id))
    expect(new Set(started().map(({ id }) => id)).size).toBe(3)
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

  it('has no data when the event had none', () => {
    expect(JSON.parse(eventResult(event('evt_1', 'a')))).not.toHaveProperty('data')
  })
})
