// From a lease to its first pass, and back when no runner can take the pass (docs/state-machine.md#leases).

import { describe, expect, it } from 'vitest'
import { given } from '../testkit/given.testkit.ts'
import { idleRun, NOW, retrying, run, SECOND, sleeping, waiting } from '../testkit/nouns.testkit.ts'
import type { Route } from './routing.ts'

const nobody: Route = { kind: 'none' }
const fresh = { startedAt: undefined, startedSeq: undefined, createdAt: NOW }

describe('a leased run', () => {
  it('whose lease ran out goes queued, then running, and spends no attempt', () => {
    const lost = run({ attempt: 3, transportTries: 2 })
    const then = given(lost, retrying('charge', NOW - SECOND, { attempt: 2 })).whenLeased()
    expect(then).toMatchObject({ next: 'pass', run: { status: 'running', attempt: 3, transportTries: 2 } })
    expect(then.changes('run.moved')[0]?.frames.map(({ status }) => status)).toEqual(['queued', 'running'])
    expect(then.afterCommit().state.memo(NOW)).toBe('{}')
  })

  it('that is paused settles its timers and is let go again', () => {
    const then = given(idleRun('paused'), sleeping('nap', NOW), sleeping('rest', NOW + SECOND)).whenLeased()
    expect(then.steps).toEqual({ nap: 'succeeded', rest: 'waiting' })
    expect(then).toMatchObject({
      next: 'stop',
      run: { status: 'paused', availableAt: NOW + SECOND, leaseOwner: undefined },
    })
  })
})

describe('a run that no runner can take', () => {
  it('stays queued, with its reason, and spends no attempt', () => {
    const then = given(run({ ...fresh, status: 'queued' })).whenLeased(nobody)
    expect(then.run).toMatchObject({
      status: 'queued',
      attempt: 1,
      transportTries: 0,
      leaseOwner: undefined,
      availableAt: NOW + SECOND,
      waitingFor: { kind: 'runner', until: NOW + SECOND },
    })
    expect(then.run.startedAt).toBeUndefined()
    expect(then.changes('run.moved')[0]?.frames).toEqual([])
  })

  it('has its ended timers settled all the same', () => {
    const then = given(run({ status: 'waiting' }), sleeping('nap', NOW)).whenLeased(nobody)
    expect(then).toMatchObject({ run: { status: 'queued' }, steps: { nap: 'succeeded' } })
  })

  it('that was paused during the call stays paused', () => {
    const then = given(run({ status: 'paused' }), sleeping('nap', NOW + SECOND)).whenNoRunnerIsReached()
    expect(then.run).toMatchObject({ status: 'paused', availableAt: NOW + SECOND, leaseOwner: undefined })
  })
})

describe('a lease given back', () => {
  it('leaves the run queued, available at once, without a spent attempt', () => {
    const then = given(run({ attempt: 2 }), waiting('paid', 'order.paid')).whenGivenBack()
    expect(then.run).toMatchObject({
      status: 'queued',
      availableAt: NOW,
      leaseOwner: undefined,
      attempt: 2,
    })
    expect(then.steps).toEqual({ paid: 'waiting' })
  })

  it('of a paused run leaves it paused', () => {
    const then = given(run({ status: 'paused' })).whenGivenBack()
    expect(then.run).toMatchObject({ status: 'paused', availableAt: undefined, leaseOwner: undefined })
  })
})
