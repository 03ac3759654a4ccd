// The run's state table, row by row (docs/state-machine.md#run). Other files test each transition's details.

import { describe, expect, it, test } from 'vitest'
import { isTerminal } from '../model/run.ts'
import { given, givenLoaded, toRunner } from '../testkit/given.testkit.ts'
import {
  brokeOff,
  endedRun,
  idleRun,
  NOW,
  ran,
  rejected,
  reported,
  retrying,
  returned,
  run,
  SECOND,
  sleeping,
  succeeded,
  threw,
  workflow,
} from '../testkit/nouns.testkit.ts'
import { replay, retryFromStep } from './control.ts'
import { RunState } from './state.ts'

const live = ['queued', 'running', 'waiting', 'paused'] as const
const ended = ['succeeded', 'failed', 'cancelled'] as const
const fork = { id: 'run_2', now: NOW, under: { workflow: undefined } }
const refused = (code: string) => expect.objectContaining({ code })

test('succeeded, failed and cancelled are terminal, the others are not', () => {
  expect(ended.filter(isTerminal)).toEqual([...ended])
  expect(live.filter(isTerminal)).toEqual([])
})

describe('any non-terminal | POST /runs/{id}/cancel | cancelled, in-flight steps are cancelled', () => {
  it.each(live)('from %s', status => {
    const then = givenLoaded(
      idleRun(status),
      succeeded('charge'),
      retrying('ship', NOW + SECOND),
      sleeping('nap', NOW + SECOND),
    ).whenCancelled()
    expect(then.run.status).toBe('cancelled')
    expect(then.steps).toEqual({ charge: 'succeeded', ship: 'cancelled', nap: 'cancelled' })
  })

  it.each(ended)('is refused on a %s run', status => {
    expect(() => givenLoaded(endedRun(status)).whenCancelled()).toThrow(refused('run_terminal'))
  })
})

describe('any non-terminal | POST /runs/{id}/pause | paused', () => {
  it.each(['queued', 'running', 'waiting'] as const)('from %s', status => {
    expect(givenLoaded(idleRun(status)).whenPaused().run.status).toBe('paused')
  })

  it('is idempotent on a paused run: nothing to decide', () => {
    expect(givenLoaded(idleRun('paused')).whenPaused().decision).toBeUndefined()
  })

  it.each(ended)('is refused on a %s run', status => {
    expect(() => givenLoaded(endedRun(status)).whenPaused()).toThrow(refused('run_terminal'))
  })

  it('takes effect at the next step boundary: the step in flight is checkpointed, then the run stops', () => {
    const then = given(run({ status: 'paused' })).when(reported(ran('charge', '1')))
    expect(then.step('charge')).toMatchObject({ status: 'succeeded', data: '1' })
    expect(then.run).toMatchObject({ status: 'paused', leaseOwner: undefined, availableAt: undefined })
    expect(then.next).toBe('stop')
  })
})

describe('paused | POST /runs/{id}/resume | queued', () => {
  it('is re-enqueued at once and continues with its stored results', () => {
    const resumed = givenLoaded(idleRun('paused'), succeeded('charge', '1')).whenResumed()
    expect(resumed.run).toMatchObject({ status: 'queued', availableAt: NOW })
    const leased = resumed.leasedAgain(NOW)
    expect(leased.state.memo(NOW)).toBe('{"hash-of-charge":{"data":1}}')
    expect(leased.whenLeased()).toMatchObject({ next: 'pass', run: { status: 'running' } })
  })

  it.each(['queued', 'running', 'waiting', ...ended] as const)('is refused on a %s run', status => {
    expect(() => givenLoaded(idleRun(status)).whenResumed()).toThrow(refused('run_not_paused'))
  })
})

describe('succeeded, failed, cancelled | POST /runs/{id}/replay | a new run queued from the start', () => {
  it.each(ended)('of a %s run', status => {
    const source = endedRun(status, { runner: 'r1' })
    const before = structuredClone(source)
    const { run, changes } = replay(source, { ...fork, input: undefined })
    expect(run).toMatchObject({
      id: 'run_2',
      status: 'queued',
      workflow: 'order',
      app: 'shop',
      input: source.input,
      runner: 'r1',
      replayOf: 'run_1',
    })
    expect(changes).toEqual([{ type: 'run.created', run }])
    expect(source).toEqual(before)
  })

  it('takes an input in place of the original, also null', () => {
    expect(replay(endedRun('failed'), { ...fork, input: 'null' }).run.input).toBe('null')
  })

  it.each(live)('is refused on a %s run', status => {
    expect(() => replay(idleRun(status), { ...fork, input: undefined })).toThrow(refused('run_not_finished'))
  })
})

describe('succeeded, failed, cancelled | POST /runs/{id}/retry-from-step | a new run that resumes there', () => {
  const state = (source = endedRun('failed')) =>
    given(source, succeeded('charge', '1'), succeeded('ship')).state

  it.each(ended)('of a %s run', status => {
    const { run, changes } = retryFromStep(state(endedRun(status)), { ...fork, step: 'ship' })
    expect(run).toMatchObject({ status: 'queued', replayOf: 'run_1' })
    expect(changes).toMatchObject([
      { type: 'run.created', run },
      { type: 'step.recorded', step: { runId: 'run_2', name: 'charge', data: '1', carried: true } },
    ])
  })

  it('is refused when the step does not exist', () => {
    expect(() => retryFromStep(state(), { ...fork, step: 'pack' })).toThrow(refused('step_not_found'))
  })

  it.each(live)('is refused on a %s run', status => {
    const live = RunState.loaded({ run: idleRun(status), steps: [], rootLogged: 0 })
    expect(() => retryFromStep(live, { ...fork, step: 'ship' })).toThrow(refused('run_not_finished'))
  })
})

test('succeeded, failed, cancelled | POST /runs/bulk-replay | each forks a run of its own, from the original input', () => {
  const sources = ended.map((status, i) => endedRun(status, { id: `run_${i}`, input: `${i}` }))
  const forks = sources.map(source => replay(source, { ...fork, id: `run_9${source.id}`, input: undefined }))
  expect(forks.map(({ run }) => [run.replayOf, run.input])).toEqual([
    ['run_0', '0'],
    ['run_1', '1'],
    ['run_2', '2'],
  ])
})

test('non-terminal | invoke returns 200 | succeeded', () => {
  const then = given(run()).when(returned('{"ok":true}'))
  expect(then).toMatchObject({ next: 'stop', run: { status: 'succeeded', result: '{"ok":true}' } })
})

test('non-terminal | invoke returns 4xx | failed', () => {
  const then = given(run()).when(rejected)
  expect(then.run).toMatchObject({ status: 'failed', error: { code: 'runner_rejected' } })
})

test('non-terminal | invoke returns 5xx | retried with backoff on a fixed transient budget, then failed', () => {
  const first = given(run()).when(brokeOff)
  expect(first.run).toMatchObject({ status: 'waiting', availableAt: NOW + 500, transportTries: 1 })
  const last = given(run({ transportTries: 7 })).when(brokeOff)
  expect(last.run).toMatchObject({ status: 'failed', error: { code: 'runner_unreachable' } })
})

test('non-terminal | a step reports error, another attempt is allowed | stays active, the step is retried', () => {
  const then = given(run({ transportTries: 3 })).when(reported(threw('charge')))
  expect(then.run.status).toBe('waiting')
  expect(then.step('charge')).toMatchObject({ status: 'retrying', attempt: 1, nextAttemptAt: NOW + SECOND })
})

describe('non-terminal | a step fails terminally | failed', () => {
  const spent = [retrying('charge', NOW, { attempt: 4 })]

  it('when its retries are spent', () => {
    const then = given(run(), ...spent).when(reported(threw('charge')))
    expect(then.run).toMatchObject({ status: 'failed', error: { code: 'step_failed', stepName: 'charge' } })
  })

  it('when it says retriable false', () => {
    const then = given(run()).when(reported(threw('charge', { retriable: false })))
    expect(then.run.status).toBe('failed')
    expect(then.created).toBeUndefined()
  })

  it('and a follow-on run is spawned when the workflow registered onFailure', () => {
    const then = given(run(), ...spent)
      .registered(workflow('order', { onFailure: true }))
      .when(reported(threw('charge')))
    expect(then.created).toMatchObject({
      status: 'queued',
      workflow: 'order',
      parentRunId: 'run_1',
      failure: { message: 'charge broke' },
    })
  })

  it('and the failed run is retained and can be replayed', () => {
    const then = given(run()).when(reported(threw('charge', { retriable: false })))
    expect(replay(then.run, { ...fork, input: undefined }).run.replayOf).toBe('run_1')
  })
})

test('non-terminal | parallel branch fails terminally | failed, in-flight sibling branches are cancelled', () => {
  const then = given(run(), sleeping('nap', NOW + SECOND), retrying('ship', NOW + SECOND)).when(
    reported(threw('charge', { retriable: false })),
  )
  expect(then.run.status).toBe('failed')
  expect(then.steps).toEqual({ nap: 'cancelled', ship: 'cancelled', charge: 'failed' })
})

test('non-terminal | run pinned to a runner id that is not registered | failed, at once', () => {
  const then = given(run({ status: 'queued', runner: 'gone' })).whenLeased({ kind: 'pinMissing' })
  expect(then).toMatchObject({
    next: 'stop',
    run: { status: 'failed', error: { code: 'runner_not_registered' } },
  })
})

test('non-terminal | anycast run, no runner registered yet | unchanged, parks and is tried again', () => {
  const held = given(run({ status: 'queued', startedAt: undefined })).whenLeased({ kind: 'none' })
  expect(held).toMatchObject({ next: 'stop', run: { status: 'queued', attempt: 1, startedAt: undefined } })
  expect(held.run.availableAt).toBe(NOW + 30 * SECOND)
  expect(held.leasedAgain(NOW + 30 * SECOND).whenLeased(toRunner).next).toBe('pass')
})
