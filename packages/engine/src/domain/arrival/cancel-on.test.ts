// cancelOn: which runs an event cancels, stored runs and runs that the same unit creates.

import { describe, expect, it } from 'vitest'
import type { Watcher } from '../model/event.ts'
import { arrives, changesOf } from '../testkit/arrivals.testkit.ts'
import { given } from '../testkit/given.testkit.ts'
import { emits, NOW, reported, run, workflow } from '../testkit/nouns.testkit.ts'
import type { FanoutInput } from './fanout.ts'

const watching = (...watchers: Watcher[]) => ({
  watchers: new Map([['order.placed', { watchers, after: 9 }]]),
})
const sameId = { filter: 'event.data.id == async.data.id', trigger: { name: 'start', data: '{"id":1}' } }
const arrive = (watchers: Watcher[], input: Partial<FanoutInput> = {}) =>
  arrives({ id: 1 }, watching(...watchers), [], input)
const cancelled = (watchers: Watcher[], input: Partial<FanoutInput> = {}) =>
  changesOf(arrive(watchers, input), 'run.cancelRequested').map(({ runId }) => runId)

describe('an event', () => {
  it('cancels every run that watches for it, once, guarded by there being no more', () => {
    expect(cancelled([{ runId: 'a' }, { runId: 'b' }, { runId: 'a' }])).toEqual(['a', 'b'])
    const guard = { type: 'watchers', namespace: 'default', eventName: 'order.placed' }
    expect(arrive([{ runId: 'a' }]).guards).toContainEqual({ ...guard, after: 9, matchKey: null })
    expect(arrive([{ runId: 'a' }]).guards).toContainEqual({ ...guard, type: 'watchPaths', digests: [] })
    expect(arrives({}, {}, []).guards).toContainEqual({ ...guard, after: 0 })
  })

  it('reports a condition that cannot be evaluated, and does not cancel', () => {
    const faults: unknown[] = []
    const condition = { ...sameId, trigger: { name: 'start' } }
    expect(cancelled([{ runId: 'a', condition }], { report: fault => faults.push(fault) })).toEqual([])
    expect(faults).toMatchObject([{ of: { runId: 'a' }, filter: sameId.filter }])
  })

  it('wakes no wait of a run that it cancels', () => {
    const waiters = new Map([['order.placed', [{ runId: 'a', stepIndex: 0, since: 1 }]]])
    const { wakes, woke } = arrives({}, { ...watching({ runId: 'a' }), waiters }, [])
    expect([wakes, woke]).toEqual([[], 0])
  })

  it('cancels a run that the same unit created before it: at its creation', () => {
    const made = run({ id: 'new', cancelOn: [{ event: 'order.placed' }, { event: 'x' }] })
    const spared = run({ id: 'other', cancelOn: [{ event: 'x' }] })
    const changes = [made, spared].map(run => ({ type: 'run.created', run }) as const)
    const decided = arrive([], { drafted: { changes } })
    expect(decided.cancelledAtBirth).toEqual(['new'])
    expect(changesOf(decided, 'run.cancelRequested')).toEqual([])
  })
})

it('a run that a pass starts by one event and cancels by the next is created with the request to cancel', () => {
  const mail = workflow('mail', {
    triggers: [{ event: 'send' }],
    flowControl: { cancelOn: [{ event: 'stop' }] },
  })
  const then = given(run())
    .registered(mail)
    .when(reported(emits('a', 'send'), emits('b', 'stop')))
  expect(then.created).toMatchObject({ workflow: 'mail', cancelRequested: true })
  expect(then.changes('run.cancelRequested')).toEqual([])
})

it('a run whose own pass emits the event is cancelled by it, in that pass', () => {
  const then = given(run({ id: 'self' }))
    .registered(workflow('order'))
    .watching('stop', { runId: 'self' }, { runId: 'other' })
    .when(reported(emits('a', 'stop')))
  expect(then.run).toMatchObject({ status: 'cancelled', finishedAt: NOW })
  expect(then.next).toBe('stop')
  expect(then.changes('run.cancelRequested').map(({ runId }) => runId)).toEqual(['other'])
})
