// Turns of steps at a limit: when a step waits for one, gets it, uses it and gives it back
// (docs/steps.md#limits-that-steps-share).

import { expect, it } from 'vitest'
import { given, givenLoaded } from '../testkit/given.testkit.ts'
import { brokeOff, idOf, limits, NOW, ran, reported, run, SECOND, threw } from '../testkit/nouns.testkit.ts'

const turnsOf = ({ changes }: { changes: readonly { type: string }[] }) =>
  changes.filter(({ type }) => type.startsWith('turn'))
const ASKED = { op: 'StepRun', status: 'waiting', attempt: 1, limit: { name: 'openai' } } as const
const at = (fields: object = {}) => ({ id: idOf('a'), name: 'a', startedAt: NOW - SECOND, ...ASKED, ...fields })
/** The step has its turn in the pass under way. */
const turned = at({ turnAt: NOW - SECOND, nextAttemptAt: NOW - SECOND })

it('a step that asks waits, and its pool grants last of all', () => {
  const then = given(run()).when(reported(limits('a', 'openai')))
  expect(then.step('a')).toMatchObject(ASKED)
  expect(turnsOf(then.decision).map(({ type }) => type)).toEqual(['turn.asked', 'turns.granted'])
  expect(then.decision.changes.at(-1)).toMatchObject({ type: 'turns.granted', at: NOW })
})

it('a granted turn is for the next pass, and a lease takes all that there are', () => {
  const then = given(run(), at({ turnAt: NOW - SECOND })).whenLeased()
  expect([then.next, then.step('a').nextAttemptAt]).toEqual(['pass', NOW])
  expect(turnsOf(then.decision)).toEqual([])
})

it('a result uses the turn: it counts from the start that the runner measured, which is not before the pass', () => {
  const used = (durationMs: number) =>
    turnsOf(given(run(), turned).when(reported(ran('a', '1', { offsetMs: 0, durationMs }))).decision)[0]
  expect(used(101)).toMatchObject({ type: 'turn.started', stepIndex: 0, startedAt: NOW - 100 })
  expect(used(60_000)).toMatchObject({ startedAt: NOW - SECOND })
})

it('the attempt that follows a failure asks again', () => {
  const then = given(run(), turned).when(reported(threw('a')))
  expect(then.step('a')).toMatchObject({ status: 'retrying', attempt: 1 })
  const again = then
    .leasedAgain(NOW + 60 * SECOND)
    .sent(NOW + 60 * SECOND)
    .when(reported(limits('a', 'openai')))
  expect(again.step('a')).toMatchObject({ status: 'waiting', attempt: 1, turnAt: undefined })
  expect(turnsOf(again.decision)[0]).toMatchObject({ type: 'turn.asked' })
})

it.each([
  ['that was lost', brokeOff],
  ['that answers without the step', reported(ran('b'))],
] as const)('a pass %s has used the turn up: the step may ask again', (_, outcome) => {
  const then = given(run(), turned).when(outcome)
  expect(turnsOf(then.decision)[0]).toMatchObject({ type: 'turn.started', startedAt: NOW })
  const again = then
    .leasedAgain(NOW + 60 * SECOND)
    .sent(NOW + 60 * SECOND)
    .when(reported(limits('a', 'openai')))
  expect(turnsOf(again.decision)[0]).toMatchObject({ type: 'turn.asked' })
})

it('a lease that finds a turn which an earlier pass had counts it as used', () => {
  const then = given(run({ status: 'running' }), turned).whenLeased()
  expect(turnsOf(then.decision)[0]).toMatchObject({ type: 'turn.started', startedAt: NOW })
})

it('a run that no runner can take gives its turns to others, and its steps ask again', () => {
  const then = given(run({ status: 'running' }), turned).whenNoRunnerIsReached()
  expect(then.step('a')).toMatchObject({ turnAt: undefined, nextAttemptAt: NOW })
  expect(turnsOf(then.decision).map(({ type }) => type)).toEqual(['turn.left', 'turns.granted'])
  const again = then
    .leasedAgain(NOW + SECOND)
    .sent(NOW + SECOND)
    .when(reported(limits('a', 'openai')))
  expect(turnsOf(again.decision)[0]).toMatchObject({ type: 'turn.asked' })
})

it('a shutdown between two passes keeps the turns for the next one', () => {
  const then = given(run({ status: 'running' }), turned).whenGivenBack()
  expect(then.step('a')).toMatchObject({ turnAt: NOW - SECOND, nextAttemptAt: undefined })
  expect(turnsOf(then.decision)).toEqual([])
})

it('a cancel gives an unused turn back, and counts one that a pass may still use until the pass may have noticed', () => {
  const cancelled = (step: typeof turned) =>
    turnsOf(givenLoaded(run({ status: 'running' }), step).whenCancelled().decision)[0]
  expect(cancelled(at())).toMatchObject({ type: 'turn.left' })
  expect(cancelled(at({ turnAt: NOW - SECOND }))).toMatchObject({ type: 'turn.left' })
  expect(cancelled(turned)).toMatchObject({ type: 'turn.started', startedAt: NOW + 10 * SECOND })
})

it('a paused run gives its turns back and keeps its places, until it is resumed', () => {
  const parked = run({ status: 'waiting', leaseOwner: undefined, waitingFor: { kind: 'limit' } })
  const then = givenLoaded(parked, at({ turnAt: NOW - SECOND })).whenPaused()
  expect(then.step('a').turnAt).toBeUndefined()
  expect(turnsOf(then.decision).map(({ type }) => type)).toEqual(['turns.held', 'turns.granted'])
  const resumed = givenLoaded(run({ status: 'paused', leaseOwner: undefined }), at()).whenResumed()
  expect(turnsOf(resumed.decision)[0]).toMatchObject({ type: 'turns.held', isHeld: false })
})
