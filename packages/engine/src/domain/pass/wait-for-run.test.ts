// WaitForRun: a step that the end of another run settles (docs/steps.md#waiting-for-runs).

import { describe, expect, it } from 'vitest'
import { given } from '../testkit/given.testkit.ts'
import { awaitingRun, NOW, ran, reported, returned, run, SECOND, waitsForRun } from '../testkit/nouns.testkit.ts'

const target = (fields: object = {}) => run({ id: 'run_2', fence: 7, ...fields })
const asked = (newest: ReturnType<typeof run> | null, fields = {}) =>
  given(run())
    .newest('run_2', newest)
    .when(reported(waitsForRun('report', 'run_2', fields)))

describe('a wait for a run', () => {
  it('asks for the newest run of its chain', () => {
    const then = given(run()).when(reported(waitsForRun('report', 'run_2')))
    expect(then.decision.questions).toEqual([{ type: 'newest', namespace: 'default', runId: 'run_2' }])
  })

  it('parks, marks the run and rests on its fence', () => {
    const then = asked(target(), { timeoutMs: SECOND })
    expect(then.step('report')).toMatchObject({ status: 'waiting', awaitedRunId: 'run_2', wakeAt: NOW + SECOND })
    expect(then.run).toMatchObject({ status: 'waiting', waitingFor: { kind: 'run', runId: 'run_2' } })
    expect(then.guards).toContainEqual({ type: 'run', runId: 'run_2', fence: 7 })
    expect(then.changes('run.marked')).toEqual([{ type: 'run.marked', runId: 'run_2', mark: 'awaited' }])
  })

  it('waits for the whole chain, and does not mark a run twice', () => {
    const then = asked(target({ id: 'run_3', chainId: 'run_2', awaited: true }))
    expect(then.step('report').awaitedRunId).toBe('run_2')
    expect(then.guards).toContainEqual({ type: 'run', runId: 'run_3', fence: 7 })
    expect(then.changes('run.marked')).toEqual([])
  })

  it('has the end of a run that has ended at once', () => {
    const then = asked(target({ status: 'succeeded', result: '{"n": 1.0}' }))
    const data = '{"runId":"run_2","status":"succeeded","result":{"n": 1.0}}'
    expect(then.step('report')).toMatchObject({ status: 'succeeded', data })
    expect(then.next).toBe('pass')
    expect(then.changes('run.marked')).toEqual([])
  })

  it.each([
    ['there is none', null],
    ['it is its own', run()],
  ])('fails, catchable, when %s', (_, newest) => {
    const then = asked(newest)
    expect(then.step('report')).toMatchObject({ status: 'failed', error: { name: 'RunNotFoundError' } })
    expect(then.next).toBe('pass')
  })
})

describe('a wait that is due', () => {
  const due = awaitingRun('report', 'run_2', { wakeAt: NOW })
  const ended = target({ status: 'failed', error: { message: 'no' } })

  it('asks for its run first', () => {
    const then = given(run(), due).whenLeased()
    expect(then.decision.questions).toEqual([{ type: 'newest', namespace: 'default', runId: 'run_2' }])
  })

  it.each([
    ['has the end of the run', ended, { data: '{"runId":"run_2","status":"failed","error":{"message":"no"}}' }],
    ['has timed out if the run goes on', target(), { data: 'null', timedOut: true }],
    ['fails if the run has been removed', null, { status: 'failed', error: { name: 'RunNotFoundError' } }],
  ])('%s', (_, newest, step) => {
    const then = given(run(), due).newest('run_2', newest)
    for (const one of [then.whenLeased(), then.sent(NOW, 0).when(reported(ran('other')))])
      expect(one.step('report')).toMatchObject({ status: 'succeeded', ...step })
  })
})

describe('the end of a run', () => {
  it('makes the waits for its chain due if it is awaited', () => {
    const then = given(run({ awaited: true, chainId: 'run_first' })).when(returned('7'))
    expect(then.changes('waits.due')).toEqual([{ type: 'waits.due', runId: 'run_first', at: NOW }])
  })

  it('of a run that continues leaves its waits to the next run', () => {
    const then = given(run({ awaited: true })).when({ kind: 'returned', continueAs: {}, logs: [] })
    expect(then.changes('waits.due')).toEqual([])
    expect(then.changes('run.created')).toMatchObject([{ run: { awaited: true, continuedFrom: run().id } }])
  })
})
