// Sleeps and deadlines: when a timer is set, when it ends, and what wakes the run (docs/wire-protocol.md#opcodes).

import { describe, expect, it } from 'vitest'
import { given } from '../../testkit/given.testkit.ts'
import {
  DAY,
  HOUR,
  NOW,
  reported,
  run,
  SECOND,
  sleeping,
  sleeps,
  sleepsUntil,
  waiting,
} from '../../testkit/nouns.testkit.ts'

describe('a Sleep', () => {
  it('gets its wake time when it is persisted, not when the pass was sent', () => {
    const then = given(run())
      .sent(NOW - 10 * SECOND)
      .when(reported(sleeps('nap', 5000)))
    expect(then.step('nap')).toMatchObject({ status: 'waiting', wakeAt: NOW + 5000, startedAt: NOW })
    expect(then.run).toMatchObject({ status: 'waiting', availableAt: NOW + 5000, leaseOwner: undefined })
    expect(then.run.waitingFor).toEqual({ kind: 'sleep', stepName: 'nap', until: NOW + 5000 })
  })

  it('never ends early: a fraction of a ms counts as a whole one', () => {
    expect(
      given(run())
        .when(reported(sleeps('nap', 0.1)))
        .step('nap').wakeAt,
    ).toBe(NOW + 1)
  })

  it('of no time is over at once', () => {
    const then = given(run()).when(reported(sleeps('nap', 0)))
    expect(then).toMatchObject({ next: 'pass' })
    expect(then.step('nap')).toMatchObject({ status: 'succeeded', data: 'null', finishedAt: NOW })
  })

  it.each([25 * DAY, 100 * 365 * DAY])(
    'of %i ms, beyond what one timer of the platform can do, is kept exactly',
    ms => {
      const parked = given(run()).when(reported(sleeps('nap', ms)))
      expect(parked.run.availableAt).toBe(NOW + ms)
      const early = parked.leasedAgain(NOW + ms - 1).whenLeased()
      expect(early.step('nap').status).toBe('waiting')
      const due = parked.leasedAgain(NOW + ms).whenLeased()
      expect(due.step('nap').status).toBe('succeeded')
    },
  )
})

describe('a SleepUntil', () => {
  it('is stored verbatim as the deadline', () => {
    const then = given(run()).when(reported(sleepsUntil('midnight', NOW + HOUR)))
    expect(then.step('midnight').wakeAt).toBe(NOW + HOUR)
    expect(then.run.availableAt).toBe(NOW + HOUR)
  })

  it('in the past wakes on the next cycle, which follows at once', () => {
    const then = given(run()).when(reported(sleepsUntil('yesterday', NOW - DAY)))
    expect(then.next).toBe('pass')
    expect(then.step('yesterday')).toMatchObject({ status: 'succeeded', wakeAt: NOW - DAY, data: 'null' })
  })

  it.each([1e20, -1e20, 8.64e15])(
    'to %d, a time no timestamp can say, is held within those that can',
    target => {
      const { wakeAt } = given(run())
        .when(reported(sleepsUntil('doomsday', target)))
        .step('doomsday')
      expect(new Date(wakeAt as number).toISOString()).toMatch(/^\d{4}-/)
    },
  )
})

describe('timers that have ended', () => {
  it('are settled when the run is leased, so that the pass finds their results', () => {
    const then = given(
      run({ status: 'waiting' }),
      sleeping('nap', NOW),
      sleeping('rest', NOW + 1),
    ).whenLeased()
    expect(then).toMatchObject({ next: 'pass', steps: { nap: 'succeeded', rest: 'waiting' } })
    expect(then.afterCommit().state.memo(NOW)).toBe(
      '{"hash-of-nap":{"data":null},"hash-of-rest":{"pending":true}}',
    )
  })

  it('are settled when they end during a pass, and the next one follows at once', () => {
    const then = given(run(), sleeping('nap', NOW - 5))
      .sent(NOW - 10)
      .when(reported())
    expect(then).toMatchObject({ next: 'pass', steps: { nap: 'succeeded' } })
  })

  it('do not settle waits without a deadline', () => {
    const then = given(run({ status: 'waiting' }), waiting('paid', 'order.paid'))
      .at(NOW + 1000 * DAY)
      .whenLeased()
    expect(then.steps).toEqual({ paid: 'waiting' })
  })
})
