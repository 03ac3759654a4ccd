// The budget of the transport: 8 tries of one pass, counted separately from the attempts of steps (docs/concepts.md#failures).

import { describe, expect, it } from 'vitest'
import { given } from '../testkit/given.testkit.ts'
import { brokeOff, NOW, run, SECOND, sleeping, workflow } from '../testkit/nouns.testkit.ts'
import { transportFailed } from './answer/outcome.ts'

describe('a pass whose transport failed', () => {
  it('is repeated after 0.5, 1, 2, 4, 8, 16 and 30 seconds, then the run fails: runner_unreachable', () => {
    let then = given(run()).when(brokeOff)
    const delays: number[] = []
    let now = NOW
    while (then.run.status === 'waiting') {
      expect(then.run.waitingFor).toEqual({
        kind: 'retry',
        until: then.run.availableAt,
        error: 'socket hang up',
      })
      const due = then.run.availableAt as number
      delays.push(due - now)
      now = due
      then = then.leasedAgain(now).whenLeased().afterCommit().when(brokeOff)
    }
    expect(delays).toEqual([500, 1000, 2000, 4000, 8000, 16_000, 30_000])
    expect(then.run).toMatchObject({
      status: 'failed',
      attempt: 8,
      error: { message: 'socket hang up', code: 'runner_unreachable' },
    })
  })

  it('keeps the reason, 500 characters of it', () => {
    const broken = transportFailed('x'.repeat(100_000))
    expect(given(run()).when(broken).run.waitingFor?.error).toBe(`${'x'.repeat(500)}…`)
  })

  it('leaves a paused run paused, without a time to wake but its timers', () => {
    const then = given(run({ status: 'paused' }), sleeping('nap', NOW + SECOND)).when(brokeOff)
    expect(then.run).toMatchObject({ status: 'paused', transportTries: 1, availableAt: NOW + SECOND })
  })

  it('is the last one for a run with an onFailure handler too: the follow-on run gets the error', () => {
    const then = given(run({ transportTries: 7 }))
      .registered(workflow('order', { onFailure: true }))
      .when(brokeOff)
    expect(then.created?.failure).toEqual({ message: 'socket hang up', code: 'runner_unreachable' })
  })
})
