// Steps of a pass whose run was ended from outside (docs/wire-protocol.md#late-answers).

import { describe, expect, it } from 'vitest'
import type { Change } from '../../model/change.ts'
import type { Run } from '../../model/run.ts'
import { LATE_ANSWER_MS, LATE_STEPS_MAX } from '../../run/cleanup/late-window.ts'
import { cancel, endUnderWay } from '../../run/control.ts'
import { type LoadedRun, RunState } from '../../run/state.ts'
import { given, givenLoaded } from '../../testkit/given.testkit.ts'
import {
  catalog,
  failed,
  NOW,
  ran,
  reported,
  run,
  runner,
  SECOND,
  sleeps,
  succeeded as stored,
  workflow,
} from '../../testkit/nouns.testkit.ts'
import { storeLate } from './late.ts'

const able = { ...runner('r1'), workflows: ['order'], features: ['cleanup'] }
const registered = { ...catalog(workflow('order')), runners: () => [able] }
const undoable = ran('charge', '{"id":7}', { rollback: true })
const context = {
  now: NOW + SECOND,
  sent: { pass: 3, runner: 'r1', passSentAt: NOW },
  knowledge: { asOf: NOW } as never,
}

/** The run as it is after a cancel while its pass was under way, with the cleanup run of that commit. */
function ended(steps: Parameters<typeof given>[1][] = [], more: Partial<Run> = {}) {
  const { state } = givenLoaded(run(more), ...steps)
  const decision = cancel(state, { now: NOW, catalog: registered })
  state.apply(decision)
  const rows = [...state.steps.values()]
  const created = decision.changes.find(change => change.type === 'run.created')?.run
  const followed: LoadedRun = { run: decision.run, steps: rows, rootLogged: 0 }
  return { followed, cleanup: created && { run: created, steps: [], rootLogged: 0 } }
}

const recorded = (changes: readonly Change[] = []) =>
  changes.flatMap(change => (change.type === 'step.recorded' || change.type === 'step.moved' ? [change.step] : []))
const createdBy = (changes: readonly Change[] = []) =>
  changes.flatMap(change => (change.type === 'run.created' ? [change.run] : []))

describe('a late answer', () => {
  it('adds its steps before the end in the timeline, and creates the cleanup run, due at once', () => {
    const { followed, cleanup } = ended([stored('a')])
    expect(cleanup).toBeUndefined()
    const late = storeLate({ followed, cleanup }, { opcodes: [ran('b'), undoable], isOver: true }, context)
    const steps = recorded(late?.changes)
    expect(steps).toMatchObject([
      { name: 'b', index: 1, status: 'succeeded' },
      { name: 'charge', index: 2, status: 'succeeded', rollback: true, data: '{"id":7}', pass: 3 },
    ])
    expect(steps[0]?.seq).toBeGreaterThan(Math.max(...followed.steps.map(({ seq }) => seq)))
    expect(steps[1]?.seq).toBeLessThan(followed.run.finishedSeq as number)
    expect(createdBy(late?.changes)).toMatchObject([{ cleanupOf: 'run_1', availableAt: NOW + SECOND }])
    expect(late?.changes.some(({ type }) => type === 'run.moved')).toBe(false)
  })

  it('makes the cleanup run due that waited for it, also if it has nothing to add', () => {
    const { followed, cleanup } = ended([stored('a', '1', { rollback: true })])
    expect(cleanup?.run.availableAt).toBe(NOW + LATE_ANSWER_MS)
    for (const opcodes of [[], [undoable]]) {
      const late = storeLate({ followed, cleanup }, { opcodes, isOver: true }, context)
      expect(late?.changes).toContainEqual(
        expect.objectContaining({ type: 'run.moved', run: expect.objectContaining({ availableAt: NOW + SECOND }) }),
      )
      expect(createdBy(late?.changes)).toEqual([])
    }
  })

  it('leaves the cleanup run waiting while the pass goes on after a checkpoint', () => {
    const late = storeLate(ended(), { opcodes: [undoable], isOver: false }, context)
    expect(createdBy(late?.changes)).toMatchObject([{ availableAt: NOW + LATE_ANSWER_MS }])
    const { followed, cleanup } = ended([stored('a', '1', { rollback: true })])
    const again = storeLate({ followed, cleanup }, { opcodes: [undoable], isOver: false }, context)
    expect(again?.changes.map(({ type }) => type)).toEqual(['step.recorded'])
    expect(again?.guards).toContainEqual({ type: 'run', runId: cleanup?.run.id, fence: cleanup?.run.fence })
  })

  it('gives a step that was to be tried again its result', () => {
    const steps = [failed('charge', { status: 'retrying', finishedAt: undefined, nextAttemptAt: NOW - 1, attempt: 2 })]
    const late = storeLate(ended(steps), { opcodes: [undoable], isOver: true }, context)
    expect(recorded(late?.changes)).toMatchObject([{ name: 'charge', status: 'succeeded', attempt: 3, rollback: true }])
  })

  it('changes nothing once another pass has stored something, or while the run goes on', () => {
    const budgets = { budgets: [{ id: 'run_1' }] }
    const spends = { opcodes: [ran('b', '1', { spent: { usd: 1 } }), undoable], isOver: true }
    const after = (lastPass: Run['lastPass']) => {
      const { followed, cleanup } = ended([], budgets)
      return storeLate({ followed: { ...followed, run: { ...followed.run, lastPass } }, cleanup }, spends, context)
    }
    expect(after(context.sent)?.changes.map(({ type }) => type)).toContain('budget.spent')
    expect(after({ ...context.sent, pass: 4 })).toBeUndefined()
    expect(after({ ...context.sent, passSentAt: NOW + 1 })).toBeUndefined()
    const live = { run: run(budgets), steps: [], rootLogged: 0 }
    expect(storeLate({ followed: live, cleanup: undefined }, spends, context)).toBeUndefined()
  })

  it('adds nothing without a rollback, of steps that are known, that failed, or that only wait', () => {
    const of = (opcodes: Parameters<typeof reported>) =>
      recorded(storeLate(ended([stored('charge')]), { opcodes, isOver: true }, context)?.changes).map(
        ({ name }) => name,
      )
    expect(of([ran('b')])).toEqual([])
    expect(of([undoable, ran('b', '1', { rollback: true }), sleeps('nap', SECOND)])).toEqual(['b'])
  })

  it('is dropped after its time, once the cleanup run has begun, and where there is none', () => {
    const { followed, cleanup } = ended([stored('a', '1', { rollback: true })])
    const report = { opcodes: [undoable], isOver: true }
    const begun = cleanup && { ...cleanup, run: { ...cleanup.run, leaseOwner: 'engine-2' } }
    expect(storeLate({ followed, cleanup: begun }, report, context)).toBeUndefined()
    const later = { ...context, now: NOW + LATE_ANSWER_MS + 1 }
    expect(storeLate({ followed, cleanup: undefined }, report, later)).toBeUndefined()
    for (const more of [{ skipsCleanup: true as const }, { cleanupOf: 'run_0' }, { status: 'succeeded' as const }]) {
      const other = { ...followed, run: { ...followed.run, ...more } }
      expect(storeLate({ followed: other, cleanup: undefined }, report, context)).toBeUndefined()
    }
  })

  it('has room for so many steps', () => {
    const opcodes = Array.from({ length: LATE_STEPS_MAX + 5 }, (_, i) => ran(`s${i}`, '1', { rollback: true }))
    const late = storeLate(ended(), { opcodes, isOver: true }, context)
    expect(recorded(late?.changes)).toHaveLength(LATE_STEPS_MAX)
  })
})

describe('the end of a run whose pass may answer', () => {
  it('comes from a cancel request or a timeout; a run without either goes on', () => {
    const end = (of: Run, now = NOW) =>
      endUnderWay(RunState.loaded({ run: of, steps: [], rootLogged: 0 }), { now, catalog: registered })
    expect(end(run())).toBeUndefined()
    expect(end(run({ cancelRequested: true }))?.run.status).toBe('cancelled')
    expect(end(run({ holds: { runTimeoutMs: 1 } }))?.run).toMatchObject({
      status: 'failed',
      error: { code: 'timeout' },
    })
    expect(end(ended().followed.run)).toBeUndefined()
  })

  it('leaves no time where no runner knows cleanup runs, or no pass is under way', () => {
    const step = stored('a', '1', { rollback: true })
    const due = (of: Run, catalogue = registered) => {
      const { changes } = cancel(givenLoaded(of, step).state, { now: NOW, catalog: catalogue })
      return createdBy(changes)[0]?.availableAt
    }
    expect(due(run())).toBe(NOW + LATE_ANSWER_MS)
    expect(due(run({ status: 'paused' }))).toBe(NOW + LATE_ANSWER_MS)
    expect(due(run({ leaseOwner: undefined, status: 'waiting' }))).toBe(NOW)
    expect(due(run(), { ...registered, runners: () => [{ ...able, features: [] }] })).toBe(NOW)
  })
})

it('the answer that meets a requested cancel keeps what is to be undone, and ends the run', () => {
  const then = given(run({ cancelRequested: true })).when(reported(ran('b'), undoable))
  expect(then.run.status).toBe('cancelled')
  expect(then.steps).toEqual({ b: 'succeeded', charge: 'succeeded' })
  expect(then.created).toMatchObject({ cleanupOf: 'run_1' })
  expect(given(run({ cancelRequested: true })).when(reported(ran('b'))).steps).toEqual({})
})
