// The price of a lost pass when others were lost with it (docs/decisions/0026-a-step-that-ends-its-process.md).

import { describe, expect, it, test } from 'vitest'
import type { Run, Suspicion } from '../../model/run.ts'
import { type Given, given } from '../../testkit/given.testkit.ts'
import { brokeOff, NOW, ran, reported, run, SECOND, workflow } from '../../testkit/nouns.testkit.ts'
import { freeLoss, type Loss, trialMs } from './suspicion.ts'

const loss = (together: number, suspects = together): Loss => ({ together, suspects, ranMs: 3 * SECOND })
const suspicion = (losses: number, atOnce: number): Suspicion => ({ losses, atOnce, ranMs: 3 * SECOND, lostAt: NOW })
const lost = (together: number, suspects?: number) => ({ ...brokeOff, loss: loss(together, suspects) })
const suspected = (fields: Partial<Run> = {}, atOnce = 1) =>
  run({ lastFailure: { message: 'socket hang up', suspicion: suspicion(2, atOnce) }, ...fields })

describe('a pass that was lost together with others', () => {
  it('spends no try, is repeated after the backoff of its losses, and says so', () => {
    const then = given(run()).when(lost(25, 0))
    expect(then.run).toMatchObject({
      status: 'waiting',
      transportTries: 0,
      attempt: 2,
      lastFailure: { suspicion: suspicion(1, 25) },
      waitingFor: {
        kind: 'retry',
        until: NOW + 500,
        error: 'socket hang up (lost together with 24 other passes of the runner, so it does not count as a try)',
      },
    })
    const again = then.leasedAgain(NOW).whenLeased().afterCommit().when(lost(25))
    expect(again.run).toMatchObject({
      transportTries: 0,
      availableAt: NOW + SECOND,
      lastFailure: { suspicion: suspicion(2, 6) },
    })
  })

  it('spends one where the workflow repeats no pass', () => {
    const then = given(run())
      .registered(workflow('order', { handlerRetries: 1 }))
      .when(lost(25, 0))
    expect(then.run).toMatchObject({ status: 'failed', error: { code: 'runner_unreachable' } })
  })

  it('is shown without its suspicion in the frame of the status', () => {
    const frames = given(run())
      .when(lost(2, 0))
      .changes('run.moved')
      .map(({ frames }) => frames)
    expect(JSON.stringify(frames)).not.toContain('suspicion')
  })
})

describe('a suspect', () => {
  it('whose runner is not back yet is held by the time since the loss, and not by its age', () => {
    const then = given(suspected({ createdAt: NOW - 3600 * SECOND }))
      .at(NOW + 6 * SECOND)
      .whenNoRunnerIsReached()
    expect(then.run).toMatchObject({ status: 'queued', availableAt: NOW + 9 * SECOND })
  })

  it('that is lost apart from other suspects spends a try, and stays one', () => {
    for (const others of [0, 12])
      expect(given(suspected()).when(lost(1 + others, 1)).run).toMatchObject({
        transportTries: 1,
        lastFailure: { suspicion: suspicion(2, 1) },
      })
  })

  it('fails after its tries, with what its last pass did to the runner', () => {
    const { error } = given(suspected({ transportTries: 7 })).when(lost(1)).run
    expect(error?.message).toMatch(
      /^socket hang up\. The connection ended during the pass\. A step that ends its process/,
    )
    expect(error?.code).toBe('runner_unreachable')
  })

  it.each([
    ['an answer', (then: Given) => then.when(reported(ran('a', '1')))],
    ['a checkpoint', (then: Given) => then.whenCheckpointed(reported(ran('a', '1')))],
  ])('is cleared by %s', (_what, answer) => {
    expect(answer(given(suspected())).run.lastFailure).toBeUndefined()
  })

  it('is cleared by a failure of another kind, which its runner survived', () => {
    expect(given(suspected()).when(brokeOff).run.lastFailure).not.toHaveProperty('suspicion')
  })
})

test('the groups become smaller until a suspect is alone, after few losses for nothing', () => {
  for (const passes of [2, 25, 500, 4096]) {
    let current = freeLoss(undefined, loss(passes, 0))
    expect(current?.atOnce).toBe(passes)
    let losses = 0
    // All passes that may go together do so, and end together.
    while (current) {
      losses++
      current = freeLoss(current, loss(current.atOnce))
    }
    expect(losses).toBeLessThanOrEqual(1 + Math.ceil(Math.log(passes) / Math.log(4)))
  }
})

test('losses that spend nothing end, however many suspects end together', () => {
  let current = freeLoss(undefined, loss(2, 0))
  let losses = 0
  while (current && losses < 100) {
    losses++
    current = freeLoss(current, loss(1000))
  }
  expect(losses).toBe(10)
})

test('others wait for a trial for as long as the lost pass ran, and a half more, from 10 s to 10 min', () => {
  const wait = (seconds: number) => trialMs({ losses: 2, atOnce: 1, ranMs: seconds * SECOND }) / SECOND
  expect([1, 60, 3600].map(wait)).toEqual([10, 90, 600])
})
