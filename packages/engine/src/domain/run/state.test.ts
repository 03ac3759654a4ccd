// The memo of an invoke (docs/wire-protocol.md#the-memo): the exact results of settled steps, and which are pending.

import { describe, expect, it } from 'vitest'
import { given } from '../testkit/given.testkit.ts'
import {
  awaitingChild,
  failed,
  NOW,
  ran,
  reported,
  retrying,
  run,
  SECOND,
  sleeping,
  succeeded,
  waiting,
} from '../testkit/nouns.testkit.ts'
import { RunState } from './state.ts'

describe('the memo', () => {
  it('holds the data of a succeeded step to the letter', () => {
    const data = '{"n": 12345678901234567890, "x": 1.0, "n": 2}'
    expect(given(run(), succeeded('charge', data)).state.memo(NOW)).toBe(`{"hash-of-charge":{"data":${data}}}`)
  })

  it('holds the error of a failed step', () => {
    const error = { message: 'no "money"', name: 'CardError' }
    const memo = JSON.parse(given(run(), failed('charge', { error })).state.memo(NOW)) as unknown
    expect(memo).toEqual({ 'hash-of-charge': { error } })
  })

  it.each([
    ['a sleep', sleeping('it', NOW + SECOND)],
    ['a wait', waiting('it', 'order.paid')],
    ['a child', awaitingChild('it', 'run_2')],
    ['a retry that is not due', retrying('it', NOW + 1)],
  ])('says pending for %s', (_, step) => {
    expect(given(run(), step).state.memo(NOW)).toBe('{"hash-of-it":{"pending":true}}')
  })

  it('leaves out a retry that is due, so that the runner runs it', () => {
    const { state } = given(run(), retrying('charge', NOW), succeeded('ship', '1'))
    expect(state.memo(NOW)).toBe('{"hash-of-ship":{"data":1}}')
    expect(state.memo(NOW - 1)).toBe('{"hash-of-ship":{"data":1},"hash-of-charge":{"pending":true}}')
  })

  it('has its keys in the order the steps settled, before and after a reload', () => {
    const { state } = given(run(), sleeping('nap', NOW), waiting('paid', 'order.paid'), succeeded('charge', '1'))
      .when(reported(ran('ship', '2')))
      .afterCommit()
    const order = ['charge', 'ship', 'nap', 'paid'].map(name => `hash-of-${name}`)
    expect(Object.keys(JSON.parse(state.memo(NOW)) as object)).toEqual(order)
    const reloaded = RunState.loaded({ run: state.run, steps: [...state.steps.values()], rootLogged: 0 })
    expect(reloaded.memo(NOW)).toBe(state.memo(NOW))
  })

  it('takes a step id as it comes, quotes included', () => {
    const odd = { ...succeeded('odd', '1'), id: 'a"b\\c' }
    expect(JSON.parse(given(run(), odd).state.memo(NOW))).toEqual({ 'a"b\\c': { data: 1 } })
  })
})

describe('the state an owner keeps', () => {
  it('is after a decision what a reload would read', () => {
    const then = given(run(), sleeping('nap', NOW)).when(reported(ran('charge', '1')))
    const { state } = then.afterCommit()
    const steps = [...state.steps.values()]
    const reloaded = RunState.loaded({ run: state.run, steps, rootLogged: state.rootLogged })
    expect(JSON.parse(reloaded.memo(NOW))).toEqual(JSON.parse(state.memo(NOW)))
    expect(reloaded.settledCount).toBe(state.settledCount)
    expect([...reloaded.open.keys()]).toEqual([...state.open.keys()])
    expect(reloaded.size).toBe(state.size)
  })

  it('counts the bytes of its input and its settled results', () => {
    const empty = given(run({ input: '123' })).state.size
    expect(empty).toBe(3)
    expect(given(run({ input: '123' }), succeeded('a', '"0123456789"')).state.size).toBeGreaterThan(empty + 10)
  })
})
