// Cancelling: from outside, and on request of a parent that ended (docs/concepts.md#pause-resume-cancel).

import { describe, expect, it } from 'vitest'
import { given, givenLoaded } from '../testkit/given.testkit.ts'
import { idleRun, NOW, ran, reported, retrying, returned, run, SECOND, sleeping } from '../testkit/nouns.testkit.ts'

describe('a cancelled run', () => {
  it('leaves no retry behind', () => {
    const then = givenLoaded(run(), retrying('charge', NOW + SECOND)).whenCancelled()
    expect(then.step('charge')).toMatchObject({
      status: 'cancelled',
      finishedAt: NOW,
      nextAttemptAt: undefined,
    })
  })

  it('makes the late answer of its pass stale: the fence has moved', () => {
    const late = given(run()).when(returned('1'))
    const then = givenLoaded(run()).whenCancelled()
    expect(late.guards).toContainEqual({ type: 'run', runId: 'run_1', fence: 3 })
    expect(then.run.fence).toBe(4)
  })
})

describe('a run with a requested cancel', () => {
  const asked = { cancelRequested: true }

  it('is cancelled by whoever leases it next, before anything is sent', () => {
    const then = given(idleRun('waiting', asked), sleeping('nap', NOW)).whenLeased()
    expect(then).toMatchObject({ next: 'stop', run: { status: 'cancelled', cancelRequested: undefined } })
    expect(then.steps).toEqual({ nap: 'cancelled' })
  })

  it.each([
    ['brought steps', reported(ran('charge'))],
    ['gave the result', returned('1')],
  ])('is cancelled when its pass in flight %s: the late answer is dropped', (_, outcome) => {
    const then = given(run(asked)).when(outcome)
    expect(then).toMatchObject({ next: 'stop', run: { status: 'cancelled' }, steps: {} })
    expect(then.run.result).toBeUndefined()
  })

  it.each([
    ['a pause', () => givenLoaded(idleRun('waiting', asked)).whenPaused()],
    ['a resume', () => givenLoaded(idleRun('paused', asked)).whenResumed()],
    ['the want of a runner', () => given(run(asked)).whenNoRunnerIsReached()],
    ['a lease given back', () => given(run(asked)).whenGivenBack()],
    ['a lease of the paused run given back', () => given(run({ ...asked, status: 'paused' })).whenGivenBack()],
  ])('stays available for that in spite of %s', (_, letGo) => {
    expect(letGo().run).toMatchObject({ cancelRequested: true, availableAt: NOW })
  })
})
