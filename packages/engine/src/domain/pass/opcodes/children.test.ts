// RunWorkflow: the app of the child, what the child inherits, and how its end reaches the parent (docs/concepts.md#children).

import { describe, expect, it } from 'vitest'
import { given } from '../../testkit/given.testkit.ts'
import {
  awaitingChild,
  NOW,
  rejected,
  reported,
  returned,
  run,
  runsChild,
  threw,
  workflow,
} from '../../testkit/nouns.testkit.ts'

const pack = runsChild('pack it', 'pack', { data: '{"box": 1.0}' })
const inApp = (app: string) => workflow('pack', { app })

describe('a child', () => {
  const then = given(run()).registered(inApp('shop')).when(reported(pack))

  it('is created queued in the same commit, and its step waits for it', () => {
    expect(then.created).toMatchObject({
      status: 'queued',
      workflow: 'pack',
      app: 'shop',
      triggerKind: 'event',
      trigger: { name: 'pack' },
      input: '{"box": 1.0}',
      parentRunId: 'run_1',
      parentStepIndex: 0,
      createdAt: NOW,
      availableAt: NOW,
    })
    expect(then.step('pack it')).toMatchObject({ status: 'waiting', childRunId: then.created?.id })
    expect(then.run).toMatchObject({ status: 'waiting', availableAt: undefined })
  })
})

describe('the end of a child', () => {
  const child = run({ id: 'run_2', parentRunId: 'run_1', parentStepIndex: 4 })
  const answer = { type: 'step.woken', runId: 'run_1', stepIndex: 4, at: NOW }

  it('that succeeded gives its parent the result to the letter', () => {
    expect(given(child).when(returned('1.0')).changes('step.woken')).toEqual([
      { ...answer, status: 'succeeded', data: '1.0' },
    ])
  })
})

describe('the end of a parent requests its children to be cancelled', () => {
  const parent = given(run(), awaitingChild('pack it', 'run_2'))
  const requested = [{ type: 'run.cancelRequested', runId: 'run_2', at: NOW, followsChain: true }]

  it.each([
    ['cancelled', () => parent.whenCancelled()],
    ['failed', () => parent.when(rejected)],
    ['succeeded without waiting for them', () => parent.when(returned())],
  ])('when it %s', (_, end) => {
    const then = end()
    expect(then.changes('run.cancelRequested')).toEqual(requested)
    expect(then.steps).toEqual({ 'pack it': 'cancelled' })
  })

  it('and a child created in the same commit is created with the request', () => {
    const then = given(run())
      .registered(inApp('shop'))
      .when(reported(pack, threw('charge', { retriable: false })))
    expect(then.created).toMatchObject({ workflow: 'pack', cancelRequested: true })
    expect(then.changes('run.cancelRequested')).toEqual([])
  })

  it('but not children that have ended', () => {
    const settled = { ...awaitingChild('pack it', 'run_2'), status: 'succeeded' as const }
    expect(given(run(), settled).whenCancelled().changes('run.cancelRequested')).toEqual([])
  })
})
