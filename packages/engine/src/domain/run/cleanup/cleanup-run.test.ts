// Cleanup runs (docs/concepts.md#cleanup-runs): which ends have one, and what a fork may carry over.

import { describe, expect, it } from 'vitest'
import type { Slot } from '../../model/flow-control.ts'
import type { Run } from '../../model/run.ts'
import { given } from '../../testkit/given.testkit.ts'
import {
  catalog,
  endedRun,
  idOf,
  NOW,
  ran,
  rejected,
  reported,
  returned,
  run,
  succeeded,
  threw,
  workflow,
} from '../../testkit/nouns.testkit.ts'
import { cancel, retryFromStep } from '../control.ts'
import type { refuseUndone } from './begun.ts'

const undoable = succeeded('charge', '{"id":7}', { rollback: true })
const withHandler = workflow('order', { cleanup: true })

describe('a cleanup run', () => {
  it.each([
    ['fails', given(run(), undoable).when(rejected)],
    ['is cancelled', given(run(), undoable).whenCancelled()],
    [
      'fails with a step of the same answer',
      given(run()).when(reported(ran('charge', '1', { rollback: true }), threw('ship', { retriable: false }))),
    ],
    ['is cancelled and has the handler', given(run()).registered(withHandler).whenCancelled()],
  ])('follows a run that %s, with its event and no holds', (_, then) => {
    expect(then.changes('run.created')).toHaveLength(1)
    expect(then.created).toMatchObject({
      cleanupOf: 'run_1',
      parentRunId: 'run_1',
      trigger: { id: 'evt_trigger', name: 'order.placed' },
      input: '{"total":12}',
      availableAt: NOW,
    })
    expect(then.created).not.toHaveProperty('holds')
    expect(then.created).not.toHaveProperty('failure')
  })

  it.each([
    ['succeeds', given(run(), undoable).when(returned('1'))],
    ['has nothing to undo', given(run(), succeeded('charge')).when(rejected)],
    ['failed, when there is only the handler for cancels', given(run()).registered(withHandler).when(rejected)],
    [
      'is an on-failure run',
      given(run({ failure: { message: 'no' } }), undoable)
        .registered(withHandler)
        .whenCancelled(),
    ],
    [
      'is a cleanup run',
      given(run({ cleanupOf: 'run_0' }), undoable)
        .registered(withHandler)
        .whenCancelled(),
    ],
    [
      'is to end without',
      given(run({ skipsCleanup: true }), undoable)
        .registered(withHandler)
        .whenCancelled(),
    ],
  ])('does not follow a run that %s', (_, then) => {
    expect(then.changes('run.created')).toEqual([])
  })

  it('holds the slots that its run kept from its creation', () => {
    const slots: Slot[] = [
      { id: 'k', limit: 1, kept: true },
      { id: 'p', limit: 1 },
    ]
    const { created } = given(run({ holds: { slots, ancestors: { k: ['run_0'] } } }), undoable).when(rejected)
    expect(created?.holds).toEqual({ slots: [slots[0]], fromBirth: true })
  })

  it('drops the pin if its run failed because that runner is not registered', () => {
    const pinned = run({ runner: 'r1' })
    expect(given(pinned, undoable).when(rejected).created).toMatchObject({ runner: 'r1' })
    expect(given(pinned, undoable).whenLeased({ kind: 'pinMissing' }).created).not.toHaveProperty('runner')
  })
})

it('children of a run that is cancelled without a cleanup have none either', () => {
  const parent = given(run(), { ...succeeded('c'), op: 'RunWorkflow', status: 'waiting', childRunId: 'run_c' })
  const decided = cancel(parent.state, { now: NOW, catalog: catalog(withHandler), skipsCleanup: true })
  expect(decided.changes).toContainEqual(
    expect.objectContaining({ type: 'run.cancelRequested', runId: 'run_c', skipsCleanup: true }),
  )
  expect(decided.run.skipsCleanup).toBe(true)
})

describe('a retry from a step', () => {
  const from = (cleanups: Parameters<typeof refuseUndone>[1], source: Run = endedRun('failed')) => {
    const steps = [succeeded('reserve', '1', { rollback: true }), succeeded('note'), undoable, succeeded('ship')]
    const options = { id: 'run_2', now: NOW, under: { workflow: undefined }, step: 'ship', cleanups }
    return () => retryFromStep(given(source, ...steps).state, options)
  }

  it('is refused if it would carry a step whose rollback has begun, naming the first', () => {
    expect(from({ begun: new Set(['rollback:charge']) })).toThrow(/^Step "charge" was rolled back/)
    expect(from({ begun: new Set(['rollback:charge', 'rollback:reserve']) })).toThrow(/^Step "reserve"/)
    expect(from({ begun: new Set(), liveRunId: 'run_c' })).toThrow(/^Step "reserve" is to be rolled back by run run_c/)
  })

  it('keeps the rollbacks of the steps that it carries, if nothing was undone', () => {
    const { changes } = from({ begun: new Set(['rollback:other']) })()
    const carried = changes.flatMap(change => (change.type === 'step.recorded' ? [change.step] : []))
    expect(carried.map(({ id, rollback }) => [id, rollback])).toEqual([
      [idOf('reserve'), true],
      [idOf('note'), undefined],
      [idOf('charge'), true],
    ])
  })
})

it('the fork of a cleanup run cleans up after the same run, outside of all limits', () => {
  const source = endedRun('failed', { cleanupOf: 'run_0', parentRunId: 'run_0' })
  const under = { workflow: workflow('order', { flowControl: { concurrency: [{ limit: 1, scope: 'workflow' }] } }) }
  const { run: fork } = retryFromStep(given(source, succeeded('a')).state, { id: 'run_2', now: NOW, under, step: 'a' })
  expect(fork).toMatchObject({ cleanupOf: 'run_0', replayOf: 'run_1' })
  expect(fork).not.toHaveProperty('holds')
})
