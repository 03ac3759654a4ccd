// The end of a run: its fields, and the on-failure run (docs/concepts.md#on-failure-runs).

import { describe, expect, it } from 'vitest'
import { given } from '../testkit/given.testkit.ts'
import { NOW, rejected, returned, run, waiting, workflow } from '../testkit/nouns.testkit.ts'

const withHook = workflow('order', { onFailure: true })

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
})

describe('an on-failure run', () => {
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
})
