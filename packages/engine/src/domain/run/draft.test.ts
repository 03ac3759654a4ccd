// The rules of every decision about a run: its frames, seqs and fences, and when the run's row is written.

import { describe, expect, it } from 'vitest'
import type { Change } from '../model/change.ts'
import type { Run } from '../model/run.ts'
import { firstSeq, SEQ_SPAN } from '../model/seq.ts'
import type { Outcome } from '../pass/answer/outcome.ts'
import { given, givenLoaded } from '../testkit/given.testkit.ts'
import {
  idleRun,
  NOW,
  ran,
  reported,
  retrying,
  returned,
  run,
  SECOND,
  sleeping,
  sleeps,
  sleepsUntil,
  succeeded,
  threw,
} from '../testkit/nouns.testkit.ts'
import { Draft } from './draft.ts'
import { RunState } from './state.ts'

/** Every frame of a run that can be derived from the changes, in seq order. */
function told(before: Run, changes: readonly Change[]): string[] {
  const frames: [seq: number, what: string][] = []
  for (const change of changes) {
    if (change.type === 'step.recorded' || change.type === 'step.moved')
      frames.push([change.step.seq, `${change.step.name} ${change.step.status}`])
    if (change.type === 'log.written') frames.push([change.line.seq, change.line.message])
    if (change.type !== 'run.moved') continue
    for (const { seq, status } of change.frames) frames.push([seq, status])
    const { startedSeq, finishedSeq, status } = change.run
    if (startedSeq !== undefined && before.startedSeq === undefined) frames.push([startedSeq, 'running'])
    if (finishedSeq !== undefined && before.finishedSeq === undefined) frames.push([finishedSeq, status])
  }
  expect(new Set(frames.map(([seq]) => seq)).size).toBe(frames.length)
  return frames.sort(([a], [b]) => a - b).map(([, what]) => what)
}

describe('back-to-back passes', () => {
  it('leave the row of the run alone: only the steps are written', () => {
    const first = given(run()).when(reported(ran('a')))
    expect(first.written).toEqual(['step.recorded'])
    const second = first.afterCommit().when(reported(ran('b')))
    expect(second.written).toEqual(['step.recorded'])
    expect(second.run.fence).toBe(run().fence)
  })
})

it('raises the fence whenever it writes the row of the run, so that a decision made before it is stale', () => {
  const then = given(run({ fence: 7 })).when(reported(sleeps('nap', 5)))
  expect(then.guards).toEqual([{ type: 'run', runId: 'run_1', fence: 7 }])
  expect(then.written).toEqual(['run.moved', 'step.recorded'])
  expect(then.run.fence).toBe(8)
  expect(then.step('nap').seq).toBe(firstSeq(7))
  expect(then.decision.seq).toBe(firstSeq(8) - 1)
})

describe('whoever decides on a freshly loaded run', () => {
  it('rests on the fence it saw, bumps it, and so starts a range nobody has used', () => {
    const then = givenLoaded(run({ fence: 7 })).when(reported(ran('a')))
    expect(then.guards[0]).toEqual({ type: 'run', runId: 'run_1', fence: 7 })
    expect(then.run.fence).toBe(8)
    expect(then.step('a').seq).toBe(firstSeq(8))
    expect(then.written).toEqual(['run.moved', 'step.recorded'])
  })

  it('rests on the steps it saw too: within one fence the owner adds to them', () => {
    const then = givenLoaded(run({ fence: 7 }), succeeded('a'), sleeping('nap', 1)).whenCancelled()
    expect(then.guards).toContainEqual({ type: 'steps', runId: 'run_1', seq: 11 })
  })

  it('goes on within the new fence afterwards', () => {
    const then = givenLoaded(run({ fence: 7 }))
      .when(reported(ran('a')))
      .afterCommit()
      .when(reported(ran('b')))
    expect(then.guards).toEqual([{ type: 'run', runId: 'run_1', fence: 8 }])
    expect(then.written).toEqual(['step.recorded'])
  })
})

describe('the range of a fence', () => {
  it('begins behind the range before it, that of fence 0 at 1', () => {
    expect([0, 1, 2].map(firstSeq)).toEqual([1, SEQ_SPAN + 1, 2 * SEQ_SPAN + 1])
  })

  it('that is used up is followed by that of the next fence, in the middle of a decision', () => {
    const draft = new Draft(RunState.claimed({ run: run({ fence: 3 }), steps: [], rootLogged: 0 }), NOW)
    let last = 0
    for (let i = 0; i < SEQ_SPAN + 5; i++) {
      const seq = draft.nextSeq()
      if (seq <= last) expect.unreachable(`seq ${seq} after ${last}`)
      last = seq
    }
    expect(last).toBeGreaterThan(firstSeq(4))
    const decision = draft.done()
    expect(decision.run.fence).toBe(4)
    expect(decision.guards).toEqual([{ type: 'run', runId: 'run_1', fence: 3 }])
    expect(decision.changes.map(({ type }) => type)).toEqual(['run.moved'])
  })

  it('of a run leased at its creation begins behind the frames of that', () => {
    const created = run({ fence: 0, startedSeq: 2 })
    const draft = new Draft(RunState.created(created), NOW)
    expect(draft.nextSeq()).toBe(3)
  })
})

describe('each status move has exactly one frame, in seq order', () => {
  const line = { level: 'info', scope: '@root', index: 0, message: 'a line' } as const
  const logging = (outcome: Outcome): Outcome => ({ ...outcome, logs: [line] })
  const fresh = idleRun('queued', { startedAt: undefined, startedSeq: undefined })

  it.each([
    ['a first start', given(fresh).whenLeased(), fresh, ['running']],
    ['a lost lease', given(run()).whenLeased(), run(), ['queued', 'running']],
    [
      'a wake',
      given(idleRun('waiting'), sleeping('nap', NOW)).whenLeased(),
      run(),
      ['nap succeeded', 'queued', 'running'],
    ],
    ['an end', given(run()).when(logging(returned())), run(), ['a line', 'succeeded']],
    [
      'a failure',
      given(run(), sleeping('nap', NOW + 1)).when(reported(threw('charge', { retriable: false }))),
      run(),
      ['charge failed', 'nap cancelled', 'failed'],
    ],
    ['a sleep', given(run()).when(reported(sleeps('nap', 5))), run(), ['nap waiting', 'waiting']],
    [
      'a sleep that is over at once',
      given(run()).when(reported(sleepsUntil('nap', 0))),
      run(),
      ['nap waiting', 'nap succeeded'],
    ],
    [
      'a retry',
      given(run(), retrying('charge', NOW)).when(reported(threw('charge'))),
      run(),
      ['charge retrying', 'waiting'],
    ],
    ['a pause', givenLoaded(run()).whenPaused(), run(), ['paused']],
    ['a resume', givenLoaded(run({ status: 'paused' })).whenResumed(), run(), ['queued']],
    ['a cancel', givenLoaded(run(), sleeping('nap', 1)).whenCancelled(), run(), ['nap cancelled', 'cancelled']],
    ['a lease given back', given(run()).whenGivenBack(), run(), ['queued']],
  ])('%s', (_, then, before, frames) => {
    expect(told(before, then.decision.changes)).toEqual(frames)
  })

  it('with the time and the attempt of the move', () => {
    const then = given(run())
      .at(NOW + SECOND)
      .when(reported(threw('charge')))
    const [frame] = then.changes('run.moved')[0]?.frames ?? []
    expect(frame).toEqual({ seq: firstSeq(3) + 1, ts: NOW + SECOND, status: 'waiting', attempt: 2 })
  })
})
