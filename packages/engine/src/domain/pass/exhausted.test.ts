// Spent tries of a step or a pass in a workflow with pause on failure (docs/concepts.md#pause-on-failure).

import type { RunError } from '@perdure/protocol'
import { describe, expect, it } from 'vitest'
import { type Given, given } from '../testkit/given.testkit.ts'
import {
  brokeOff,
  endpoint,
  type GivenStep,
  NOW,
  ran,
  reported,
  retrying,
  run,
  SECOND,
  sleeps,
  succeeded,
  threw,
  workflow,
} from '../testkit/nouns.testkit.ts'
import type { Outcome } from './answer/outcome.ts'

const twice = { maxAttempts: 2, initialMs: 1000, factor: 2, maxMs: 60_000, jitter: 0 }
const pausing = workflow('order', { whenExhausted: 'pause', handlerRetries: 2, retry: twice })
const order = (fields: Parameters<typeof run>[0] = {}, ...steps: GivenStep[]): Given =>
  given(run(fields), ...steps).registered(pausing)

const thrown = { message: 'no such column', stack: 'at x', code: 'handler_failed' as const }
const handlerThrew: Outcome = { kind: 'transportFailed', error: thrown, logs: [] }
const uncaught = (error: RunError): Outcome => ({ kind: 'rejected', error, logs: [] })
const broke = (stepName: string) => ({ message: `${stepName} broke`, code: 'step_failed' as const, stepName })

describe('spent tries of a pass', () => {
  it('pause the run, which keeps the reason, its steps and no lease', () => {
    const first = order({}, succeeded('a')).when(handlerThrew)
    expect(first.run).toMatchObject({ status: 'waiting', attempt: 2, lastFailure: thrown })
    const then = first
      .leasedAgain(NOW + SECOND)
      .whenLeased()
      .afterCommit()
      .when(handlerThrew)
    expect(then.next).toBe('stop')
    expect(then.run).toMatchObject({
      status: 'paused',
      waitingFor: { kind: 'failure', error: 'no such column' },
      lastFailure: thrown,
      attempt: 2,
      leaseOwner: undefined,
      availableAt: undefined,
    })
    expect(then.changes('run.moved')[0]?.frames).toMatchObject([{ status: 'paused', error: thrown }])
    expect(then.written).toEqual(['run.moved'])
  })

  it('are new after a resume', () => {
    const then = order({ transportTries: 1 }).when(handlerThrew).leasedAgain(NOW).whenResumed()
    expect(then.run).toMatchObject({ status: 'queued', transportTries: 0, attempt: 2 })
    expect(then.run).toMatchObject({ waitingFor: undefined, lastFailure: undefined })
  })

  it('are new after the resume of any pause', () => {
    const then = order({ status: 'paused', transportTries: 1, lastFailure: thrown }).whenResumed()
    expect(then.run).toMatchObject({ transportTries: 0, lastFailure: undefined, attempt: 1 })
  })

  it('fail an on-failure run', () => {
    const then = order({ transportTries: 1, failure: { message: 'earlier' } }).when(handlerThrew)
    expect(then.run).toMatchObject({ status: 'failed', error: thrown })
  })
})

describe('spent tries of a step', () => {
  const last = retrying('charge', NOW - SECOND)
  const spent = order({}, last).when(reported(threw('charge', { catchable: true }), ran('b', '1')))

  const paused = spent.leasedAgain(NOW + 5).when(uncaught(broke('charge')))

  it('pause it when the handler did not', () => {
    expect(paused.run).toMatchObject({
      status: 'paused',
      waitingFor: { kind: 'failure', stepName: 'charge', error: 'charge broke', stepIds: ['hash-of-charge'] },
      lastFailure: broke('charge'),
    })
    expect(paused.steps).toEqual({ charge: 'failed', b: 'succeeded' })
  })

  it('are new after a resume: the memo has no error of the step any more', () => {
    const again = paused.leasedAgain(NOW + 9).whenResumed()
    expect(again.run).toMatchObject({ status: 'queued', attempt: 2, waitingFor: undefined })
    expect(again.step('charge')).toMatchObject({ status: 'retrying', attempt: 2, nextAttemptAt: expect.any(Number) })
    const owner = again.leasedAgain(NOW + 60)
    expect(owner.state.memo(NOW + 60)).toBe('{"hash-of-b":{"data":1}}')
    const third = owner.when(reported(threw('charge', { catchable: true })))
    expect(third.step('charge')).toMatchObject({ status: 'retrying', attempt: 3 })
    const fourth = third.leasedAgain(NOW + 60 * SECOND).when(reported(threw('charge', { catchable: true })))
    expect(fourth.step('charge')).toMatchObject({ status: 'failed', attempt: 4, spentAt: 4 })
  })

  it('that no handler may catch pause the run at once, and its siblings settle', () => {
    const then = order({}, last)
      .subscribed(endpoint('hook'))
      .when(reported(threw('charge'), ran('b', '1'), sleeps('nap', 50)))
    expect(then.run).toMatchObject({ status: 'paused', waitingFor: { kind: 'failure', stepName: 'charge' } })
    expect(then.steps).toEqual({ charge: 'failed', b: 'succeeded', nap: 'waiting' })
    expect(then.run.availableAt).toBe(NOW + 50)
    expect(then.changes('delivery.created').map(({ delivery }) => delivery.eventKind)).toEqual(['step.failed'])
    const woken = then.leasedAgain(NOW + 50).whenLeased()
    expect(woken.steps.nap).toBe('succeeded')
    expect(woken.run).toMatchObject({ status: 'paused', waitingFor: { kind: 'failure', stepName: 'charge' } })
  })

  it('are new for all steps that would have ended the run', () => {
    const then = order({}, last, retrying('ship', NOW - SECOND)).when(reported(threw('charge'), threw('ship')))
    expect(then.run.waitingFor).toMatchObject({ stepName: 'charge', stepIds: ['hash-of-charge', 'hash-of-ship'] })
    expect(then.leasedAgain(NOW).whenResumed().steps).toEqual({ charge: 'retrying', ship: 'retrying' })
  })

  it('in a checkpoint pause the run, and its pass goes on', () => {
    const then = order({}, last).whenCheckpointed(reported(threw('charge')))
    expect(then.next).toBe('pass')
    expect(then.run).toMatchObject({ status: 'paused', leaseOwner: 'engine-1', waitingFor: { kind: 'failure' } })
    const resumed = then.leasedAgain(NOW).at(NOW).whenResumed()
    // The pass in flight was sent before, so it leaves the step to the next pass.
    expect(resumed.step('charge').nextAttemptAt).toBe(NOW + 1)
  })

  it('fail the run when the step said that no further attempt would help', () => {
    expect(order({}, last).when(reported(threw('charge', { retriable: false }))).run.status).toBe('failed')
    const caught = order({}, last).when(reported(threw('charge', { retriable: false, catchable: true })))
    expect(caught.leasedAgain(NOW).when(uncaught(broke('charge'))).run.status).toBe('failed')
  })
})

it('a handler has the attempts that the retry policy of its workflow sets, and the transport its own tries', () => {
  const once = workflow('order', { retry: { ...twice, maxAttempts: 1, setsAttempts: true } })
  expect(given(run()).registered(once).when(handlerThrew).run).toMatchObject({ status: 'failed', error: thrown })
  expect(given(run()).registered(once).when(brokeOff).run).toMatchObject({ status: 'waiting' })
  const both = workflow('order', { retry: { ...twice, maxAttempts: 1, setsAttempts: true }, handlerRetries: 2 })
  expect(given(run()).registered(both).when(handlerThrew).run).toMatchObject({ status: 'waiting' })
})

it('a handler has no further try after an error that the retry policy names', () => {
  const named = workflow('order', { retry: { ...twice, nonRetriable: ['TypeError'] } })
  const other = workflow('order', { retry: { ...twice, nonRetriable: ['RangeError'] } })
  const typeError = { ...handlerThrew, error: { ...thrown, name: 'TypeError' } }
  expect(given(run()).registered(named).when(typeError).run.status).toBe('failed')
  expect(given(run()).registered(other).when(typeError).run.status).toBe('waiting')
})

it('a success forgets the failures before it', () => {
  const then = order({ transportTries: 1, lastFailure: thrown }).when(reported(ran('a', '1')))
  expect(then.run).toMatchObject({ transportTries: 0, lastFailure: undefined })
})

it('a step of another kind than the stored one fails the run, also when its retry is due', () => {
  const then = order({}, retrying('charge', NOW - SECOND)).when(reported(sleeps('charge', 5)))
  expect(then.run.error).toMatchObject({ code: 'nondeterministic', message: expect.stringMatching(/StepRun.*Sleep/) })
})

it('the memo names the kinds of steps for a runner that knows them', () => {
  const { state } = order({}, succeeded('a', '1'))
  expect(state.memo(NOW, { withOps: true })).toBe('{"hash-of-a":{"op":"StepRun","data":1}}')
  expect(state.memo(NOW)).toBe('{"hash-of-a":{"data":1}}')
})
