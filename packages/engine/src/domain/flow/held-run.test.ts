// A run with slots, a throttle or timeouts on its way: what it does when it is leased, let go, or out of time.

import { describe, expect, it } from 'vitest'
import { unreserved } from '../begin.ts'
import { given, givenLoaded } from '../given.testkit.ts'
import { idleRun, NOW, ran, run, SECOND, sleeping, sleeps, waiting } from '../nouns.testkit.ts'
import type { Outcome } from '../outcome.ts'
import { transportFailed } from '../outcome.ts'
import type { Run } from '../run.ts'
import type { Holds } from './holds.ts'
import { fullSlot, heldForSlot } from './slots.ts'

const fresh = { startedAt: undefined, startedSeq: undefined, createdAt: NOW, status: 'queued' as const }
const slots = [
  { id: 'a', limit: 1 },
  { id: 'b', limit: 3, key: 'ada' },
]
const throttle = { id: 't', limit: 1, periodMs: 60_000, burst: 0, key: 'ada' }
const answered = (...opcodes: ReturnType<typeof ran>[]): Outcome => ({ kind: 'opcodes', opcodes, logs: [] })
const holding = (holds: Holds, fields: Partial<Run> = {}) => run({ holds, ...fields })

describe('a run with slots', () => {
  it('frees them whenever it is let go: parked, ended, given back', () => {
    const freed = [{ type: 'slots.freed', slotIds: ['a', 'b'], at: NOW }]
    const held = given(holding({ slots }))
    expect(held.when(answered(sleeps('nap', SECOND))).changes('slots.freed')).toEqual(freed)
    expect(held.when({ kind: 'returned', logs: [] }).changes('slots.freed')).toEqual(freed)
    expect(held.whenGivenBack().changes('slots.freed')).toEqual(freed)
    expect(held.whenNoRunnerIsReached().changes('slots.freed')).toEqual(freed)
  })

  it('frees them also when somebody ends or pauses it before it was leased: it may have been woken for them', () => {
    const idle = givenLoaded(idleRun('queued', { holds: { slots } }))
    expect(idle.whenCancelled().changes('slots.freed')).toHaveLength(1)
    expect(idle.whenPaused().changes('slots.freed')).toHaveLength(1)
  })

  it('keeps them from pass to pass, and when it is paused in one', () => {
    expect(
      given(holding({ slots }))
        .when(answered(ran('charge')))
        .changes('slots.freed'),
    ).toEqual([])
    expect(givenLoaded(holding({ slots })).whenPaused().changes('slots.freed')).toEqual([])
  })

  it('leaves the line when it is let go', () => {
    const idle = givenLoaded(idleRun('queued', { holds: { slots }, heldSlot: 'a' }))
    expect(idle.whenPaused().run.heldSlot).toBeUndefined()
  })

  it('that was leased without them, and is resumed meanwhile, asks for them again', () => {
    const then = given(holding({ slots }, { ...fresh, heldSlot: 'a' })).whenLeased()
    expect(then).toMatchObject({
      next: 'stop',
      run: { status: 'queued', availableAt: NOW, leaseOwner: undefined, heldSlot: undefined },
    })
  })

  it('is held for the first slot that is full', () => {
    const taken = new Map([
      ['a', 0],
      ['b', 3],
    ])
    const slot = fullSlot(holding({ slots }), id => taken.get(id) as number)
    expect(slot).toBe(slots[1])
    expect(heldForSlot(holding({ slots }), slots[1] as (typeof slots)[1], NOW)).toMatchObject({
      status: 'queued',
      heldSlot: 'b',
      waitingFor: { kind: 'concurrency', key: 'ada' },
    })
  })
})

describe('a throttled run', () => {
  const until = NOW + 20 * SECOND

  it('waits queued for the start that was reserved, and remembers it', () => {
    const then = given(holding({ throttle, slots }, fresh)).whenLeased(undefined, until)
    expect(then).toMatchObject({
      next: 'stop',
      run: {
        status: 'queued',
        availableAt: until,
        leaseOwner: undefined,
        throttledUntil: until,
        waitingFor: { kind: 'throttle', key: 'ada', until },
      },
    })
    expect(then.changes('slots.freed')).toHaveLength(1)
    expect(unreserved(then.run)).toBeUndefined()
    expect(then.leasedAgain(until).whenLeased()).toMatchObject({ next: 'pass', run: { startedAt: until } })
  })

  it('starts at once when the reserved start is now', () => {
    expect(given(holding({ throttle }, fresh)).whenLeased(undefined, NOW).next).toBe('pass')
  })

  it('reserves once, for its first start alone, and only when it goes on to a runner', () => {
    const queued = holding({ throttle }, fresh)
    expect(unreserved(queued)).toBe(throttle)
    const others = [
      { startedAt: NOW },
      { throttledUntil: NOW },
      { status: 'paused' },
      { cancelAsked: true },
      { heldSlot: 'a' },
    ]
    for (const fields of others) expect(unreserved({ ...queued, ...fields } as Run)).toBeUndefined()
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

  it('means nothing to a run that has started', () => {
    expect(
      given(holding(holds))
        .at(NOW + 90_000)
        .whenLeased().next,
    ).toBe('pass')
  })

  it('wakes a run that is held for a throttle, or paused, in time', () => {
    const later = NOW + 60_000
    expect(given(holding({ ...holds, throttle }, fresh)).whenLeased(undefined, later).run.availableAt).toBe(
      NOW + 30_000,
    )
    const idle = idleRun('queued', { ...fresh, holds })
    expect(givenLoaded(idle).whenPaused().run.availableAt).toBe(NOW + 30_000)
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

  it('goes on while the run is paused', () => {
    const then = given(holding(holds, { ...started, status: 'paused' }))
      .at(late)
      .whenLeased()
    expect(then.run).toMatchObject({ status: 'failed', error: timeout })
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
