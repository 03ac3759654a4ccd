// Which log lines are stored (docs/concepts.md#logs): handler lines once over all replays, step lines once per attempt.

import { hashStepId } from '@perdure/protocol'
import { describe, expect, it } from 'vitest'
import { type Given, given, givenLoaded, type Then } from '../testkit/given.testkit.ts'
import { brokeOff, NOW, ran, reported, retrying, returned, run, succeeded, threw } from '../testkit/nouns.testkit.ts'
import type { PassLine } from './answer/log-lines.ts'
import type { Outcome } from './answer/outcome.ts'

const line = (scope: string, index: number, message = `${scope} ${index}`): PassLine => ({
  level: 'info',
  scope,
  index,
  message,
})
const root = (...indexes: number[]) => indexes.map(index => line('@root', index))
const logging = (outcome: Outcome, logs: PassLine[]): Outcome => ({ ...outcome, logs })
const keys = (then: Then) => then.changes('log.written').map(({ line }) => line.dedupe)

describe("a handler's lines", () => {
  it("carry the run's attempt, the time they were persisted, and a key of their own", () => {
    const then = given(run({ attempt: 3 })).when(logging(returned(), root(4)))
    expect(then.changes('log.written')[0]?.line).toMatchObject({
      runId: 'run_1',
      level: 'info',
      scope: '@root',
      index: 4,
      attempt: 3,
      ts: NOW,
      dedupe: '@root#4',
    })
  })
})

describe("a step's lines", () => {
  it('belong to the attempt under way also when the pass broke off', () => {
    const then = given(run(), retrying('charge', NOW, { attempt: 2 })).when(logging(brokeOff, [line('charge', 0)]))
    expect(then.changes('log.written')[0]?.line.attempt).toBe(3)
  })

  it('belong to the attempt before if the next one is not due: the receipt of their report was lost', () => {
    const again = logging(reported(threw('charge')), [line('charge', 0)])
    const then = given(run(), retrying('charge', NOW + 1000, { attempt: 2 })).when(again)
    expect(then.changes('log.written')[0]?.line.attempt).toBe(2)
  })

  it('of two uses of one name are distinguished, one after the other', () => {
    const first = given(run()).when(logging(reported(ran('charge')), [line('charge', 0)]))
    const again = { ...ran('charge'), id: 'hash-of-charge:1' }
    const second = first.afterCommit().when(logging(reported(again), [line('charge', 0)]))
    expect(new Set([...keys(first), ...keys(second)]).size).toBe(2)
    expect(second.changes('log.written')[0]?.line.attempt).toBe(1)
  })

  const byHash = (name: string) => ({ ...ran(name), id: hashStepId(name) })

  it('of a step that a broken pass did not report have the key that it is reported under later', () => {
    const first = given(run()).when(logging(brokeOff, [line('charge', 0)]))
    const second = first
      .leasedAgain(NOW + 1000)
      .when(logging(reported(byHash('charge')), [line('charge', 0), line('charge', 1)]))
    expect(keys(first)).toEqual(keys(second).slice(0, 1))
  })

  it('of a second use that was not reported are not taken for those of the first', () => {
    const first = given(run()).when(logging(reported(byHash('charge')), [line('charge', 0)]))
    const broken = first.afterCommit(1).when(logging(brokeOff, [line('charge', 0)]))
    const again = { ...byHash('charge:1'), name: 'charge' }
    const second = broken.leasedAgain(NOW + 1000).when(logging(reported(again), [line('charge', 0)]))
    expect(keys(broken)).not.toEqual(keys(first))
    expect(keys(broken)).toEqual(keys(second))
  })

  it('that come after their step was checkpointed in the same pass belong to it', () => {
    const first = given(run())
      .at(NOW + 5)
      .sent(NOW)
      .whenCheckpointed(logging(reported(byHash('charge')), [line('charge', 0)]))
    const late = first
      .afterCommit(5)
      .sent(NOW)
      .when(logging(returned(), [line('charge', 1)]))
    expect(keys(late)).toEqual([keys(first)[0]?.replace(/0$/, '1')])
  })

  it('keep their key when the pass is decided again after a lost race', () => {
    const outcome = logging(reported(ran('charge')), [line('charge', 0), line('@root', 0)])
    const decide = (given: Given) => keys(given.when(outcome))
    expect(decide(givenLoaded(run(), succeeded('a')))).toEqual(decide(given(run())))
  })
})
