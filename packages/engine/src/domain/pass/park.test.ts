// Parking (docs/wire-protocol.md#opcodes): the run wakes at the earliest deadline of its branches, and shows its reason.

import { describe, expect, it } from 'vitest'
import { given } from '../testkit/given.testkit.ts'
import {
  awaitingChild,
  HOUR,
  NOW,
  reported,
  retrying,
  run,
  runsChild,
  SECOND,
  sleeping,
  sleeps,
  sleepsUntil,
  threw,
  waiting,
  waitsFor,
  workflow,
} from '../testkit/nouns.testkit.ts'

describe('several opcodes in one answer', () => {
  const all = [
    sleeps('nap', 3 * SECOND),
    sleepsUntil('noon', NOW + 2 * SECOND),
    waitsFor('paid', 'order.paid', { timeoutMs: 4 * SECOND }),
    runsChild('pack', 'pack'),
    threw('charge'),
  ]
  const then = given(run())
    .registered(workflow('order'), workflow('pack'))
    .when(reported(...all))

  it('park the run until the earliest deadline', () => {
    expect(then.run).toMatchObject({ status: 'waiting', availableAt: NOW + SECOND })
    const tries = { attempt: 1, maxAttempts: 5 }
    expect(then.run.waitingFor).toEqual({ kind: 'retry', stepName: 'charge', until: NOW + SECOND, ...tries })
  })
})

describe('a parked run waits for', () => {
  it.each([
    ['a sleep', sleeping('nap', NOW + SECOND), { kind: 'sleep', stepName: 'nap', until: NOW + SECOND }],
    ['a retry', retrying('charge', NOW + 9), { kind: 'retry', stepName: 'charge', until: NOW + 9, attempt: 1 }],
    ['an event', waiting('paid', 'order.paid'), { kind: 'event', stepName: 'paid', eventName: 'order.paid' }],
    ['a child', awaitingChild('pack', 'run_2'), { kind: 'child', stepName: 'pack', childRunId: 'run_2' }],
  ])('%s', (_, step, waitingFor) => {
    expect(given(run(), step).when(reported()).run.waitingFor).toEqual(waitingFor)
  })

  it('what ends first, timed reasons before open ones', () => {
    const then = given(
      run(),
      waiting('paid', 'order.paid'),
      sleeping('nap', NOW + HOUR),
      sleeping('rest', NOW + SECOND),
    ).when(reported())
    expect(then.run).toMatchObject({ availableAt: NOW + SECOND, waitingFor: { stepName: 'rest' } })
  })
})
