// A run with slots, a throttle or timeouts, when it is leased, released, or out of time.

import { describe, expect, it } from 'vitest'
import type { Holds } from '../model/flow-control.ts'
import type { Run } from '../model/run.ts'
import type { Outcome } from '../pass/answer/outcome.ts'
import { transportFailed } from '../pass/answer/outcome.ts'
import { given } from '../testkit/given.testkit.ts'
import { NOW, ran, run, SECOND, sleeping, sleeps, waiting } from '../testkit/nouns.testkit.ts'
import { fullSlot, HELD_RECHECK_MS, heldForSlot } from './concurrency.ts'
import { throttleToPass } from './throttle.ts'

const fresh = { startedAt: undefined, startedSeq: undefined, createdAt: NOW, status: 'queued' as const }
const slots = [
  { id: 'a', limit: 1 },
  { id: 'b', limit: 3, key: 'ada' },
]
const throttle = { id: 't', limit: 1, periodMs: 60_000, burst: 0, key: 'ada' }
const answered = (...opcodes: ReturnType<typeof ran>[]): Outcome => ({ kind: 'opcodes', opcodes, logs: [] })
const holding = (holds: Holds, fields: Partial<Run> = {}) => run({ holds, ...fields })

describe('a run with slots', () => {
  it('that was leased without them, and then resumed, waits for them again', () => {
    const then = given(holding({ slots }, { ...fresh, leasedWithoutSlots: true })).whenLeased()
    expect(then).toMatchObject({
      next: 'stop',
      run: { status: 'queued', availableAt: NOW, leaseOwner: undefined, leasedWithoutSlots: undefined },
    })
  })

  it('is held for the first slot that is full', () => {
    const taken = new Map([
      ['a', 0],
      ['b', 3],
    ])
    const slot = fullSlot(holding({ slots }), { taken: id => taken.get(id) as number, limitOf: ({ limit }) => limit })
    expect(slot).toBe(slots[1])
    expect(heldForSlot(holding({ slots }), slots[1] as (typeof slots)[1], NOW)).toMatchObject({
      status: 'queued',
      waitsForSlot: 'b',
      waitingFor: { kind: 'concurrency', key: 'ada' },
    })
  })
})

describe('a throttled run', () => {
  const none = { taken: false, freeAt: NOW + 20 * SECOND }
  const taken = { taken: true, freeAt: NOW + 60 * SECOND }
  const called = (at: number) => [{ type: 'startQueue.woken', id: 't', count: 1, at }]
  const calledOne = (fields: Partial<Run> = {}) =>
    holding({ throttle }, { ...fresh, waitingFor: { kind: 'throttle' }, ...fields })

  it('that finds no free start waits in the start queue without a slot, and the first in it is woken for the next one', () => {
    const then = given(holding({ throttle, slots }, fresh)).whenLeased(undefined, none)
    expect(then).toMatchObject({
      next: 'stop',
      run: {
        status: 'queued',
        startQueue: 't',
        leaseOwner: undefined,
        // A run that nothing wakes is claimed at the recheck.
        availableAt: NOW + HELD_RECHECK_MS,
        waitingFor: { kind: 'throttle', key: 'ada', until: none.freeAt },
      },
    })
    expect(then.written[0]).toBe('run.moved')
    expect(then.changes('slots.freed')).toHaveLength(1)
    expect(then.changes('startQueue.woken')).toEqual(called(none.freeAt))
  })

  it('starts with a token, and calls the next for the next one', () => {
    for (const run of [holding({ throttle }, fresh), calledOne()]) {
      const then = given(run).whenLeased(undefined, taken)
      expect(then).toMatchObject({
        next: 'pass',
        run: { status: 'running', startedAt: NOW, waitingFor: undefined },
      })
      expect(then.changes('startQueue.woken')).toEqual(called(taken.freeAt))
    }
  })

  it('queries the limiter at its next lease if it could not at this one', () => {
    const then = given(holding({ throttle }, fresh)).whenLeased()
    expect(then).toMatchObject({
      next: 'stop',
      run: { status: 'queued', availableAt: NOW, leaseOwner: undefined },
    })
    expect(throttleToPass({ ...then.run, leaseOwner: 'engine-1' }, NOW)).toBe(throttle)
  })

  it('needs a token for its first start alone, and only when it goes on to a runner', () => {
    const queued = holding({ throttle, queueTimeoutMs: 5 }, fresh)
    expect(throttleToPass(queued, NOW)).toBe(throttle)
    expect(throttleToPass(queued, NOW + 5)).toBeUndefined()
    const others = [{ startedAt: NOW }, { status: 'paused' }, { cancelRequested: true }, { leasedWithoutSlots: true }]
    for (const fields of others) expect(throttleToPass({ ...queued, ...fields } as Run, NOW)).toBeUndefined()
  })
})

describe('timeouts.queue', () => {
  const holds = { queueTimeoutMs: 30_000 }

  it('fails a run that is leased too late, and its on-failure handler follows', () => {
    const then = given(holding(holds, fresh))
      .at(NOW + 30_000)
      .whenLeased()
    expect(then.run).toMatchObject({
      status: 'failed',
      error: { code: 'timeout', message: 'The run did not start within its timeouts.queue of 30000 ms.' },
    })
    expect(
      given(holding(holds, fresh))
        .at(NOW + 29_999)
        .whenLeased().next,
    ).toBe('pass')
  })
})

describe('timeouts.run', () => {
  const holds = { runTimeoutMs: 30_000 }
  const started = { startedAt: NOW, createdAt: NOW }
  const late = NOW + 30_000
  const timeout = { code: 'timeout', message: 'The run did not end within its timeouts.run of 30000 ms.' }

  it('wakes a parked run in time, whatever it waits for', () => {
    const sleeper = given(holding(holds, started)).when(answered(sleeps('nap', 90_000)))
    expect(sleeper.run).toMatchObject({ status: 'waiting', availableAt: late })
    const waiter = given(holding(holds, started), waiting('paid', 'order.paid')).when(answered())
    expect(waiter.run.availableAt).toBe(late)
    const soon = given(holding(holds, started)).when(answered(sleeps('nap', SECOND)))
    expect(soon.run.availableAt).toBe(NOW + SECOND)
  })

  it('fails the run when it is leased then, and cancels what it waited for', () => {
    const then = given(holding(holds, { ...started, status: 'waiting' }), sleeping('nap', NOW + 90_000))
      .at(late)
      .whenLeased()
    expect(then.run).toMatchObject({ status: 'failed', error: timeout })
    expect(then.steps).toEqual({ nap: 'cancelled' })
  })

  it('keeps what the last pass brought, and sends no other', () => {
    const then = given(holding(holds, started))
      .sent(NOW, 0)
      .at(late)
      .when(answered(ran('charge', '1')))
    expect(then).toMatchObject({ next: 'stop', run: { status: 'failed', error: timeout } })
    expect(then.steps).toEqual({ charge: 'succeeded' })
  })

  it('ends a pass that had no answer by then; one that has its result has made it', () => {
    const held = given(holding(holds, started)).at(late)
    expect(held.when(transportFailed('deadline')).run.error).toEqual(timeout)
    expect(held.when({ kind: 'returned', logs: [] }).run.status).toBe('succeeded')
  })
})
