// The end of a run: its fields, and the on-failure run (docs/concepts.md#on-failure-runs).

import { describe, expect, it } from 'vitest'
import { runDurationMs } from '../model/run.ts'
import { given } from '../testkit/given.testkit.ts'
import {
  brokeOff,
  MINUTE,
  NOW,
  ran,
  rejected,
  reported,
  returned,
  run,
  threw,
  waiting,
  workflow,
} from '../testkit/nouns.testkit.ts'

const withHook = workflow('order', { onFailure: true })
const spent = run({ transportTries: 7 })

describe('an end', () => {
  it('is recorded once: status, time, and no lease, wake or wait left', () => {
    const then = given(run(), waiting('paid', 'order.paid')).when(returned('1'))
    expect(then.run).toMatchObject({
      status: 'succeeded',
      result: '1',
      finishedAt: NOW,
      availableAt: undefined,
      leaseOwner: undefined,
      waitingFor: undefined,
    })
    expect(then.next).toBe('stop')
  })

  it('keeps the result to the letter', () => {
    const result = '{ "n": 12345678901234567890, "x": 1.0, "n": 2 }'
    expect(given(run()).when(returned(result)).run.result).toBe(result)
  })

  it('of a paused run stands: the pass in flight at the pause gave the final result', () => {
    expect(given(run({ status: 'paused' })).when(returned('1')).run.status).toBe('succeeded')
    expect(given(run({ status: 'paused' })).when(rejected).run.status).toBe('failed')
  })

  it('after two branches failed for good has the error of the first', () => {
    const then = given(run()).when(reported(threw('charge', { retriable: false }), threw('ship', { retriable: false })))
    expect(then.run.error).toMatchObject({ stepName: 'charge', message: 'charge broke' })
    expect(then.steps).toEqual({ charge: 'failed', ship: 'failed' })
  })

  it('after a branch failed for good still keeps what the others brought', () => {
    const then = given(run()).when(reported(threw('charge', { retriable: false }), ran('ship', '2')))
    expect(then.step('ship')).toMatchObject({ status: 'succeeded', data: '2' })
  })

  it('has a duration from the first invoke on, or of 0 when there was none', () => {
    expect(runDurationMs(given(run()).when(returned()).run)).toBe(MINUTE)
    expect(runDurationMs(given(run({ startedAt: undefined })).whenCancelled().run)).toBe(0)
    expect(runDurationMs(run())).toBeUndefined()
  })
})

describe('an on-failure run', () => {
  it.each([
    ['a step', given(run()), reported(threw('charge', { retriable: false })), { message: 'charge broke' }],
    ['a 4xx', given(run()), rejected, { message: 'no such workflow' }],
    ['the transport', given(spent), brokeOff, { message: 'socket hang up' }],
  ])('follows a failure by %s, with its error', (_, failing, outcome, failure) => {
    expect(failing.registered(withHook).when(outcome).created).toMatchObject({
      parentRunId: 'run_1',
      failure,
    })
  })

  it('gets the event and the input of the failed run, but not its eventId', () => {
    const { created } = given(run()).registered(withHook).when(rejected)
    expect(created).toMatchObject({
      status: 'queued',
      workflow: 'order',
      app: 'shop',
      triggerKind: 'event',
      trigger: { id: 'evt_trigger', name: 'order.placed' },
      input: '{"total":12}',
      attempt: 1,
      createdAt: NOW,
      availableAt: NOW,
    })
    expect(created).not.toHaveProperty('eventId')
    expect(created).not.toHaveProperty('parentStepIndex')
  })

  it('is the same run however often the end is decided', () => {
    const once = given(run()).registered(withHook).when(rejected).created
    expect(given(run()).registered(withHook).when(rejected).created?.id).toBe(once?.id)
  })
})
