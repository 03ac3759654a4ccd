// Attempts of a step: the workflow's policy, what the runner may override, and what they cost the run
// (docs/concepts.md#failures).

import { describe, expect, it } from 'vitest'
import { given } from '../../testkit/given.testkit.ts'
import {
  idOf,
  MINUTE,
  NOW,
  ran,
  reported,
  retrying,
  run,
  SECOND,
  succeeded,
  threw,
} from '../../testkit/nouns.testkit.ts'

describe('a step that throws', () => {
  it.each([
    ['at the least', 0, 800],
    ['at the most', 0.999_999_999, 1200],
  ])('waits with a jitter of 20 %%, %s', (_, random, delay) => {
    const then = given(run())
      .random(random)
      .when(reported(threw('charge')))
    expect(then.step('charge').nextAttemptAt).toBe(NOW + delay)
  })

  it('waits as long as retryAfterMs says, this once', () => {
    const then = given(run()).when(reported(threw('charge', { retryAfterMs: 90_000.2 })))
    expect(then.step('charge').nextAttemptAt).toBe(NOW + 90_001)
    const again = given(run(), retrying('charge', NOW)).when(reported(threw('charge')))
    expect(again.step('charge').nextAttemptAt).toBe(NOW + 2 * SECOND)
  })

  it('is tried again also when it is to wait no time at all', () => {
    const then = given(run()).when(reported(threw('charge', { retryAfterMs: 0 })))
    expect(then.run).toMatchObject({ status: 'waiting', availableAt: NOW + 1 })
    expect(
      then
        .leasedAgain(NOW + 1)
        .whenLeased()
        .afterCommit()
        .state.memo(NOW + 1),
    ).toBe('{}')
  })

  it('keeps message, stack, name and code of its error, and no unknown member', () => {
    const error = { message: 'no', stack: 'at x', name: 'TypeError', code: 'EVIL', evil: 1 }
    const then = given(run()).when(reported(threw('charge', { error })))
    expect(then.step('charge').error).toEqual({ message: 'no', stack: 'at x', name: 'TypeError', code: 'EVIL' })
  })
})

describe('a step that failed keeps how many attempts it has', () => {
  it('by the policy of its newest failure, also once it succeeded', () => {
    const once = given(run()).when(reported(threw('charge')))
    expect(once.step('charge').maxAttempts).toBe(5)
    expect(once.run.waitingFor).toMatchObject({ stepName: 'charge', attempt: 1, maxAttempts: 5 })
    const due = retrying('charge', NOW, { maxAttempts: 5 })
    const again = given(run(), due).when(reported(threw('charge', { retry: { maxAttempts: 3 } })))
    expect(again.step('charge')).toMatchObject({ attempt: 2, maxAttempts: 3 })
    expect(again.run.waitingFor).toMatchObject({ attempt: 2, maxAttempts: 3 })
    expect(
      given(run(), due)
        .when(reported(ran('charge')))
        .step('charge'),
    ).toMatchObject({ attempt: 2, maxAttempts: 5 })
  })

  it('behind the ones that were spent before a resume', () => {
    const due = retrying('charge', NOW, { attempt: 5, spentAt: 5, maxAttempts: 5 })
    const then = given(run(), due).when(reported(threw('charge')))
    expect(then.step('charge')).toMatchObject({ status: 'retrying', attempt: 6, maxAttempts: 10 })
  })

  it('and none when no other attempt would have followed anyway, or when nothing failed', () => {
    const final = given(run()).when(reported(threw('charge', { retriable: false, catchable: true })))
    expect(final.step('charge')).not.toHaveProperty('maxAttempts')
    expect(
      given(run())
        .when(reported(ran('pack')))
        .step('pack'),
    ).not.toHaveProperty('maxAttempts')
  })
})

describe('the ends of the tries', () => {
  const endless = { maxAttempts: 'unlimited', initialMs: SECOND, factor: 1, jitter: 0 } as const

  it('need not be a number of attempts', () => {
    const due = retrying('charge', NOW, { attempt: 5000 })
    const then = given(run(), due).when(reported(threw('charge', { retry: endless })))
    expect(then.step('charge')).toMatchObject({ status: 'retrying', attempt: 5001, nextAttemptAt: NOW + SECOND })
    expect(then.step('charge')).not.toHaveProperty('maxAttempts')
  })

  it('may be a time after the first attempt, and after a resume as much again', () => {
    const failure = threw('charge', { retry: { ...endless, maxElapsed: MINUTE } })
    const first = given(run()).when(reported(failure))
    expect(first.step('charge')).toMatchObject({ status: 'retrying', wakeAt: NOW + MINUTE })
    const after = (fields: object) =>
      given(run(), retrying('charge', NOW, { attempt: 9, ...fields }))
        .when(reported(failure))
        .step('charge')
    expect(after({ startedAt: NOW - MINUTE + SECOND })).toMatchObject({ status: 'retrying' })
    expect(after({ startedAt: NOW - MINUTE })).toMatchObject({ status: 'failed', attempt: 10 })
    const resumed = after({ startedAt: NOW - 9 * MINUTE, spentAt: 9 })
    expect(resumed).toMatchObject({ status: 'retrying', wakeAt: NOW + MINUTE })
    expect(after({ attempt: 10, spentAt: 9, startedAt: NOW - 9 * MINUTE, wakeAt: NOW })).toMatchObject({
      status: 'failed',
    })
  })

  it.each([
    ['name', { message: 'no', name: 'CardDeclined' }],
    ['code', { message: 'no', name: 'Error', code: 'E_DECLINED' }],
  ])('may be the %s of the error', (_, error) => {
    const retry = { nonRetriable: ['CardDeclined', 'E_DECLINED'] }
    const of = (sent: object) =>
      given(run())
        .when(reported(threw('charge', { error: sent, retry } as never)))
        .step('charge')
    expect(of(error)).toMatchObject({ status: 'failed', attempt: 1 })
    expect(of({ ...error, name: 'Other', code: 'OTHER' }).status).toBe('retrying')
  })
})

it('the context of a pass counts the attempts of steps that are due, and those that were spent before a resume', () => {
  const { state } = given(
    run(),
    retrying('charge', NOW, { attempt: 2 }),
    retrying('ship', NOW, { attempt: 5, spentAt: 5 }),
    retrying('later', NOW + 1),
  )
  const [charge, ship] = [idOf('charge'), idOf('ship')]
  expect(JSON.parse(`{${state.attempts(NOW).slice(1)}}`)).toEqual({
    stepAttempts: { [charge]: 3, [ship]: 6 },
    spentAttempts: { [ship]: 5 },
  })
  expect(given(run(), succeeded('charge')).state.attempts(NOW)).toBe('')
})

describe('a retry', () => {
  it('that fell due during the pass was pending in it: the next pass follows at once', () => {
    const sibling = given(run(), retrying('charge', NOW - 5)).sent(NOW - 10)
    expect(sibling.when(reported()).next).toBe('pass')
    expect(sibling.when(reported(ran('charge'))).step('charge').status).toBe('retrying')
  })

  it('that is due but was not reported is no reason to wake: the run waits for what it does wait for', () => {
    const then = given(run(), retrying('charge', NOW - 5), retrying('ship', NOW + SECOND)).when(reported())
    expect(then.run).toMatchObject({ status: 'waiting', availableAt: NOW + SECOND })
    expect(then.run.waitingFor).toEqual({ kind: 'retry', stepName: 'ship', until: NOW + SECOND, attempt: 1 })
  })
})
