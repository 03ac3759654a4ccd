// Pause and resume, before, during and after a pass (docs/concepts.md#pause-resume-cancel), and the wake of a parked run whose
// handler continues (docs/wire-protocol.md#another-pass).

import { describe, expect, it } from 'vitest'
import { given, givenLoaded } from '../testkit/given.testkit.ts'
import {
  idleRun,
  NOW,
  ran,
  reported,
  retrying,
  run,
  SECOND,
  sleeping,
  succeeded,
  threw,
  waiting,
} from '../testkit/nouns.testkit.ts'
import { wake } from './control.ts'

const pausedInFlight = run({ status: 'paused' })
const resumedInFlight = run({ status: 'queued' })

describe('a pause', () => {
  it('of a run nobody holds leaves it no time to wake', () => {
    const then = givenLoaded(idleRun('queued')).whenPaused()
    expect(then.run).toMatchObject({ status: 'paused', availableAt: undefined, waitingFor: undefined })
  })

  it('leaves it the time to settle its first timer, which is no retry', () => {
    const then = givenLoaded(
      idleRun('waiting'),
      sleeping('nap', NOW + 9 * SECOND),
      waiting('paid', 'order.paid', { wakeAt: NOW + 5 * SECOND }),
      retrying('charge', NOW + SECOND),
    ).whenPaused()
    expect(then.run.availableAt).toBe(NOW + 5 * SECOND)
  })

  it('of a run with a pass in flight leaves the lease: the pass is checkpointed, or recovered', () => {
    const then = givenLoaded(run()).whenPaused()
    expect(then.run).toMatchObject({
      status: 'paused',
      leaseOwner: 'engine-1',
      availableAt: run().availableAt,
    })
  })
})

describe('a pass that comes back to a paused run', () => {
  it('has its failed step wait, without waking for the retry', () => {
    const then = given(pausedInFlight).when(reported(threw('charge')))
    expect(then.step('charge').status).toBe('retrying')
    expect(then.run).toMatchObject({ status: 'paused', availableAt: undefined })
  })
})

describe('a resume', () => {
  it('with the pass still in flight leaves it to its owner, so that it cannot run twice', () => {
    const then = givenLoaded(pausedInFlight).whenResumed()
    expect(then.run).toMatchObject({
      status: 'queued',
      leaseOwner: 'engine-1',
      availableAt: pausedInFlight.availableAt,
    })
  })

  it('with the pass still in flight lets the owner go on as if nothing had been', () => {
    const then = given(resumedInFlight).when(reported(ran('charge')))
    expect(then).toMatchObject({ next: 'pass', run: { status: 'running', leaseOwner: 'engine-1' } })
    expect(then.changes('run.moved')[0]?.frames.map(({ status }) => status)).toEqual(['running'])
  })
})

const parked = idleRun('waiting', { availableAt: NOW + 60 * SECOND })
const wakeOf = (row: typeof parked, fields: Partial<Parameters<typeof wake>[1]> = {}, ...steps: never[]) =>
  wake(givenLoaded(row, ...steps).state, { now: NOW, at: NOW, ...fields })?.run

describe('a wake', () => {
  it('queues the parked run, and raises its fence', () => {
    expect(wakeOf(parked)).toMatchObject({ status: 'queued', availableAt: NOW, fence: parked.fence + 1 })
  })

  it('for later leaves it parked until then', () => {
    expect(wakeOf(parked, { at: NOW + SECOND })).toMatchObject({ status: 'waiting', availableAt: NOW + SECOND })
  })

  it('is none for a run that is due before, leased, queued, paused or ended, or whose pass is repeated', () => {
    const repeated = { ...parked, waitingFor: { kind: 'retry' as const, until: NOW + 60 * SECOND } }
    const rows = [run(), idleRun('queued'), idleRun('paused'), repeated, { ...parked, availableAt: NOW - 1 }]
    expect(rows.map(row => wakeOf(row))).toEqual(rows.map(() => undefined))
  })

  it('is none for a run with more settled steps than the pass knew', () => {
    const steps = [succeeded('a'), waiting('b', 'paid'), sleeping('c', NOW + SECOND)] as never[]
    expect(wakeOf(parked, { settled: 0 }, ...steps)).toBeUndefined()
    expect(wakeOf(parked, { settled: 1 }, ...steps)).toMatchObject({ status: 'queued' })
  })
})
