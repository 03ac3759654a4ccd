// Sleeps and deadlines: when a timer is set, when it ends, and what wakes the run (docs/wire-protocol.md#opcodes).

import { describe, expect, it } from 'vitest'
import { given } from '../../testkit/given.testkit.ts'
import { DAY, NOW, reported, run, sleeping, sleeps, sleepsUntil, waiting } from '../../testkit/nouns.testkit.ts'

describe('a Sleep', () => {
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
  it.each([1e20, -1e20, 8.64e15])('to %d, a time no timestamp can say, is held within those that can', target => {
    const { wakeAt } = given(run())
      .when(reported(sleepsUntil('doomsday', target)))
      .step('doomsday')
    expect(new Date(wakeAt as number).toISOString()).toMatch(/^\d{4}-/)
  })
})

describe('timers that have ended', () => {
  it('are settled when the run is leased, so that the pass finds their results', () => {
    const then = given(run({ status: 'waiting' }), sleeping('nap', NOW), sleeping('rest', NOW + 1)).whenLeased()
    expect(then).toMatchObject({ next: 'pass', steps: { nap: 'succeeded', rest: 'waiting' } })
    expect(then.afterCommit().state.memo(NOW)).toBe('{"hash-of-nap":{"data":null},"hash-of-rest":{"pending":true}}')
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
