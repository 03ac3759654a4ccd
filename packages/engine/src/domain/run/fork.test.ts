// Forks of a finished run (docs/concepts.md#replay-retry-from-a-step-bulk-replay).

import { describe, expect, it } from 'vitest'
import type { Run } from '../model/run.ts'
import { given } from '../testkit/given.testkit.ts'
import {
  cancelled,
  endedRun,
  failed,
  type GivenStep,
  idOf,
  NOW,
  SECOND,
  sleeping,
  succeeded,
} from '../testkit/nouns.testkit.ts'
import { replay, retryFromStep } from './control.ts'
import { RunState } from './state.ts'

const fork = { id: 'run_2', now: NOW, under: { workflow: undefined } }
const stepError = (stepName: string, message = 'broken') => ({
  message,
  code: 'step_failed' as const,
  stepName,
})

function retried(step: string, steps: GivenStep[], source: Run = endedRun('failed')) {
  const { run, changes, step: from } = retryFromStep(given(source, ...steps).state, { ...fork, step })
  const carried = changes.flatMap(change => (change.type === 'step.recorded' ? [change.step] : []))
  return { run, from, carried, names: carried.map(({ name }) => name) }
}

describe('a fork', () => {
  it('copies the kind of trigger, event name, trigger and pin, but not the eventId or the lineage', () => {
    const source = endedRun('failed', { runner: 'r1', parentRunId: 'run_0', parentStepIndex: 3, attempt: 7 })
    const { run } = replay(source, { ...fork, input: undefined })
    expect(run).toEqual({
      namespace: 'default',
      id: 'run_2',
      workflow: 'order',
      app: 'shop',
      status: 'queued',
      triggerKind: 'event',
      eventName: 'order.placed',
      trigger: { id: 'evt_trigger', name: 'order.placed' },
      replayOf: 'run_1',
      runner: 'r1',
      input: '{"total":12}',
      attempt: 1,
      transportTries: 0,
      fence: 0,
      createdAt: NOW,
      availableAt: NOW,
    })
  })

  it("continues the trace of the request, never its source's", () => {
    const source = endedRun('failed', { trace: 'of the source' })
    expect(replay(source, { ...fork, input: undefined }).run).not.toHaveProperty('trace')
    expect(replay(source, { ...fork, input: undefined, trace: 'asked' }).run.trace).toBe('asked')
    const { state } = given(source, succeeded('a'))
    expect(retryFromStep(state, { ...fork, step: 'a' }).run).not.toHaveProperty('trace')
    expect(retryFromStep(state, { ...fork, step: 'a', trace: 'asked' }).run.trace).toBe('asked')
  })

  it('of a cron run is a cron run', () => {
    const source = endedRun('failed', { triggerKind: 'cron', cron: '* * * * *', eventName: undefined })
    expect(replay(source, { ...fork, input: undefined }).run).toMatchObject({
      triggerKind: 'cron',
      cron: '* * * * *',
    })
  })

  it('of an on-failure run is one too, so that none follows it', () => {
    const source = endedRun('failed', { failure: { message: 'earlier' } })
    expect(replay(source, { ...fork, input: undefined }).run.failure).toEqual({ message: 'earlier' })
  })

  it('of a run without input has none', () => {
    expect(replay(endedRun('failed', { input: undefined }), { ...fork, input: undefined }).run).not.toHaveProperty(
      'input',
    )
  })
})

describe('a retry from a step carries', () => {
  const steps = [succeeded('a', '1.0'), succeeded('b'), failed('c'), succeeded('d')]

  it('the steps before it with their results, marked as carried', () => {
    const { carried } = retried('c', steps)
    expect(carried).toMatchObject([
      { runId: 'run_2', id: idOf('a'), name: 'a', status: 'succeeded', data: '1.0', carried: true },
      { runId: 'run_2', id: idOf('b'), name: 'b', status: 'succeeded', carried: true },
    ])
  })

  it('no step that was cancelled, with indexes as dense as ever', () => {
    const { carried } = retried('d', [succeeded('a'), cancelled('nap'), succeeded('b'), succeeded('d')])
    expect(carried.map(({ name, index }) => [name, index])).toEqual([
      ['a', 0],
      ['b', 1],
    ])
  })

  it('the order in which the steps settled, which is that of the memo', () => {
    const slow = succeeded('slow')
    const source = given(endedRun('failed'), slow, succeeded('quick'), succeeded('d')).state
    const steps = [...source.steps.values()].map(step => (step.name === 'slow' ? { ...step, seq: 90 } : step))
    const state = RunState.loaded({ run: source.run, steps, rootLogged: 0 })
    const { changes } = retryFromStep(state, { ...fork, step: 'd' })
    expect(changes.slice(1)).toMatchObject([
      { step: { name: 'slow', index: 0, seq: 3 } },
      { step: { name: 'quick', index: 1, seq: 2 } },
    ])
  })

  it('a failure its handler had caught, whatever ended the run', () => {
    const caught = failed('c', { finishedAt: NOW - 9 * SECOND })
    expect(retried('d', [succeeded('a'), caught, succeeded('d')]).names).toEqual(['a', 'c'])
    const source = endedRun('failed', { error: stepError('d') })
    expect(retried('d', [caught, failed('d', { finishedAt: source.finishedAt })], source).names).toEqual(['c'])
  })

  it('a caught failure also when something else ended the run at the very same time', () => {
    const source = endedRun('failed', { error: { message: 'no', code: 'runner_rejected' } })
    const steps = [failed('c', { finishedAt: source.finishedAt }), succeeded('d')]
    expect(retried('d', steps, source).names).toEqual(['c'])
  })

  it('a caught failure also when another use of its name ended the run in the same answer', () => {
    const source = endedRun('failed', { error: stepError('charge', 'no funds') })
    const ending = { finishedAt: source.finishedAt }
    const again = failed('charge', { id: idOf('charge:1'), error: { message: 'no funds' }, ...ending })
    expect(retried('charge:1', [failed('charge', ending), again], source).names).toEqual(['charge'])
    // Two identical errors: running the step again is safer than keeping a failure that nothing catches.
    const alike = { ...again, error: { message: 'broken' } }
    const unclear = endedRun('failed', { error: stepError('charge') })
    expect(retried('charge:1', [failed('charge', ending), alike], unclear).names).toEqual([])
  })

  it('no failure that ended the run: that is what is tried again', () => {
    const source = endedRun('failed', { error: stepError('a') })
    const ending = { finishedAt: source.finishedAt }
    const steps = [failed('a', ending), failed('b', ending), succeeded('c'), cancelled('d')]
    expect(retried('d', steps, source).names).toEqual(['c'])
  })

  it('no failure that ended the run in a later pass, in which nothing caught it, nor failures after it', () => {
    const source = endedRun('failed', { error: stepError('a') })
    const steps = [failed('caught'), failed('a'), succeeded('b'), failed('c'), succeeded('d')]
    expect(retried('d', steps, source).names).toEqual(['caught', 'b'])
    const wrapped = endedRun('failed', { error: stepError('a', 'the order failed') })
    expect(retried('d', steps, wrapped).names).toEqual(['caught', 'b'])
  })
})

describe('the step of a retry', () => {
  const uses = [
    succeeded('a'),
    { ...succeeded('a'), id: idOf('a:1') },
    sleeping('b', NOW),
    { ...succeeded('a'), id: idOf('a:2') },
  ]

  it.each([
    ['a', 0],
    ['a:1', 1],
    ['a:2', 3],
    ['b', 2],
    [idOf('a:2'), 3],
  ])('is found as %s', (wanted, index) => {
    expect(retried(wanted, uses).from.index).toBe(index)
  })

  it('is found by its name before another is by its id', () => {
    const named = { ...succeeded('x'), id: 'y' }
    expect(retried('y', [named, succeeded('y')]).from.index).toBe(1)
  })

  it.each(['a:3', 'b:1', 'c', ''])('is not found as %s', wanted => {
    expect(() => retried(wanted, uses)).toThrow(
      expect.objectContaining({ code: 'step_not_found', details: { step: wanted } }),
    )
  })
})
