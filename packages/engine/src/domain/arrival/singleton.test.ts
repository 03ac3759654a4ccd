// Singleton: one live run per key. A second event meets stored runs and runs that the same unit creates.

import { describe, expect, it } from 'vitest'
import type { Change } from '../model/change.ts'
import type { Run } from '../model/run.ts'
import type { Assumptions } from '../run/assumptions.ts'
import { RunState } from '../run/state.ts'
import { arrives, changesOf, under } from '../testkit/arrivals.testkit.ts'
import { idleRun, NOW, run } from '../testkit/nouns.testkit.ts'
import type { FanoutInput } from './fanout.ts'
import { liveKey } from './live/live-runs.ts'

const of = { type: 'live', namespace: 'default', app: 'shop', workflow: 'order', key: 'a' } as const
const guard = of
const skip = under({ singleton: { mode: 'skip', key: 'event.data.id' } })
const cancel = under({ singleton: { mode: 'cancel', key: 'event.data.id' } })
const live = (...runs: Run[]): Partial<Assumptions> => ({
  live: new Map([[liveKey(of), runs.map(({ id }) => id)]]),
  runs: new Map(runs.map(run => [run.id, RunState.loaded({ run, steps: [], rootLogged: 0 })])),
})
const other = run({ id: 'run_live', singletonKey: 'a' })
const arrive = (workflow = skip, known: Partial<Assumptions> = {}, input: Partial<FanoutInput> = {}) =>
  arrives({ id: 'a' }, known, [workflow], input)
const created = (changes: readonly Change[]) => changesOf({ changes }, 'run.created')

it('skip: an event is skipped while a run is live', () => {
  const { triggered, changes, guards } = arrive(skip, live(other))
  expect(triggered).toEqual([{ workflow: 'order', app: 'shop', skipped: true, liveRunId: 'run_live' }])
  expect(created(changes)).toEqual([])
  expect(guards).toContainEqual({ ...guard, runIds: ['run_live'] })
})

it('skip: a run that the same unit creates counts', () => {
  const first = arrive(skip)
  const { triggered } = arrive(skip, {}, { drafted: { changes: first.changes } })
  expect(triggered).toMatchObject([{ skipped: true }])
})

describe('cancel', () => {
  it('requires the live run first', () => {
    const { live: known } = live(other)
    expect(arrive(cancel, { live: known } as Partial<Assumptions>).questions).toEqual([
      { type: 'run', runId: 'run_live' },
    ])
  })

  it('ends it in the unit that starts the new one, guarded, and a pass in flight is interrupted', () => {
    const { changes, guards } = arrive(cancel, live(other))
    expect(changesOf({ changes }, 'run.moved')).toMatchObject([
      { run: { id: 'run_live', status: 'cancelled', finishedAt: NOW }, interrupts: true },
    ])
    expect(created(changes)).toHaveLength(1)
    expect(guards).toContainEqual({ type: 'run', runId: 'run_live', fence: other.fence })
    expect(guards).toContainEqual({ ...guard, runIds: ['run_live'] })
  })

  it('wakes no wait of the run that it ends', () => {
    const waiters = new Map([['order.placed', [{ runId: 'run_live', stepIndex: 0, since: 1 }]]])
    const { wakes, woke } = arrive(cancel, { ...live(idleRun('waiting', other)), waiters })
    expect([wakes, woke]).toEqual([[], 0])
  })

  it('ends a run that the same unit creates, which nobody leases', () => {
    const { changes: before } = arrive(cancel)
    const [first] = created(before)
    const { changes, cancelledAtBirth } = arrive(cancel, {}, { drafted: { changes: before } })
    expect(cancelledAtBirth).toEqual([first?.run.id])
    expect(changesOf({ changes }, 'run.moved')).toMatchObject([{ run: { id: first?.run.id, status: 'cancelled' } }])
  })

  it("of the run that emits the event is left to that run's own decision", () => {
    const self = { ...other }
    const spread = arrive(cancel, live(other), { drafted: { changes: [], self } })
    expect(spread.cancelsSelf).toBe(true)
    expect(changesOf(spread, 'run.moved')).toEqual([])
    const again = arrive(cancel, live(other), {
      drafted: { changes: [], self: { ...self, cancelRequested: true } },
    })
    expect(again.cancelsSelf).toBe(false)
  })

  it('of a run that the same unit has woken is requested', () => {
    const woken = {
      type: 'step.woken',
      runId: 'run_live',
      stepIndex: 0,
      status: 'succeeded',
      at: NOW,
    } as const
    const { changes } = arrive(cancel, live(other), { drafted: { changes: [woken] } })
    expect(changesOf({ changes }, 'run.cancelRequested')).toEqual([
      { type: 'run.cancelRequested', runId: 'run_live', at: NOW },
    ])
  })
})
