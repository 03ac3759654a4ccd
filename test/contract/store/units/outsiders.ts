// Changes to a run by anyone but its owner: they wake it, request its cancel, or report a runner for it.

import { describe, expect, it } from 'vitest'
import type { Change } from '../../../../packages/engine/src/domain/model/change.ts'
import type { Run } from '../../../../packages/engine/src/domain/model/run.ts'
import { firstSeq } from '../../../../packages/engine/src/domain/model/seq.ts'
import type { Step } from '../../../../packages/engine/src/domain/model/step.ts'
import {
  aLeasedRun,
  aParkedRun,
  aRun,
  aStep,
  aWait,
  created,
  eachStore,
  holds,
  moved,
  NOW,
  NS,
  type OpenStore,
  waitersAre,
  write,
} from '../samples.ts'

/** Fields of a step that has not settled. */
const OPEN = { finishedAt: undefined, data: undefined } as const

export function outsidersContract(open: OpenStore): void {
  describe('a wake', () => {
    const store = eachStore(open)

    it('settles the step and queues the parked run, under a new fence', async () => {
      const run = aParkedRun({ fence: 2 })
      const wait = aWait(run, { wakeAt: NOW + 500 })
      await write(store(), created(run, wait))
      const woken = { type: 'step.woken', runId: run.id, stepIndex: 0, status: 'succeeded' } as const
      await write(store(), { ...woken, data: '{"a":1}', eventId: 'evt_1', at: NOW + 90 })
      expect(await store().loadRun(run.id)).toEqual({
        run: { ...run, status: 'queued', fence: 3, availableAt: NOW + 90, waitingFor: undefined },
        steps: [
          {
            ...wait,
            status: 'succeeded',
            seq: firstSeq(3),
            data: '{"a":1}',
            eventId: 'evt_1',
            finishedAt: NOW + 90,
          },
        ],
        rootLogged: 0,
      })
    })

    it('carries the error of a failed child', async () => {
      const run = aParkedRun()
      const child = aStep(run, {
        op: 'RunWorkflow',
        status: 'waiting',
        finishedAt: undefined,
        data: undefined,
        childRunId: 'run_c',
      })
      const error = { message: 'no', name: 'E' }
      await write(store(), created(run, child))
      await write(store(), {
        type: 'step.woken',
        runId: run.id,
        stepIndex: 0,
        status: 'failed',
        error,
        at: NOW,
      })
      expect((await store().in(NS).steps(run.id))[0]).toMatchObject({
        status: 'failed',
        error,
        childRunId: 'run_c',
      })
    })

    it('changes nothing of a step that does not wait', async () => {
      const run = aParkedRun()
      const steps = [aStep(run), aStep(run, { index: 1, status: 'retrying', finishedAt: undefined, seq: 4 })]
      await write(store(), created(run, ...steps))
      const before = await store().loadRun(run.id)
      for (const stepIndex of [0, 1, 2]) {
        await write(store(), {
          type: 'step.woken',
          runId: run.id,
          stepIndex,
          status: 'succeeded',
          data: '9',
          at: NOW,
        })
      }
      expect(await store().loadRun(run.id)).toEqual(before)
    })

    it('of all waits for the end of a run makes them due, also those of paused runs, and no others', async () => {
      const awaited = aRun()
      const run = aParkedRun({ fence: 2, availableAt: NOW + 500 })
      const paused = aParkedRun({ status: 'paused', waitingFor: undefined })
      const [leased, other] = [aLeasedRun(), aParkedRun()]
      const wait = (run: Run, index = 0) =>
        aStep(run, { op: 'WaitForRun', status: 'waiting', index, awaitedRunId: awaited.id, ...OPEN })
      const elsewhere = { ...wait(other), awaitedRunId: 'run_other' }
      await write(store(), created(awaited), created(run, wait(run), wait(run, 1)), created(paused, wait(paused)))
      await write(store(), created(leased, wait(leased)), created(other, elsewhere))
      await write(store(), { type: 'run.marked', runId: awaited.id, mark: 'awaited' })
      expect((await store().loadRun(awaited.id))?.run).toEqual({ ...awaited, awaited: true, fence: awaited.fence + 1 })
      await write(store(), { type: 'waits.due', runId: awaited.id, at: NOW + 90 })
      const due = { fence: 1, availableAt: NOW + 90 }
      const step = { status: 'waiting', wakeAt: NOW + 90 }
      expect(await store().loadRun(run.id)).toEqual({
        run: { ...run, ...due, fence: 3 },
        steps: [wait(run), wait(run, 1)].map(one => ({ ...one, ...step })),
        rootLogged: 0,
      })
      expect(await store().loadRun(paused.id)).toMatchObject({ run: { ...due, status: 'paused' }, steps: [step] })
      expect(await store().loadRun(leased.id)).toMatchObject({
        run: { ...due, availableAt: leased.availableAt },
        steps: [step],
      })
      expect(await store().loadRun(other.id)).toEqual({ run: other, steps: [elsewhere], rootLogged: 0 })
    })

    it('of a wait for the end of a run leaves a step that has settled in the same unit', async () => {
      const [awaited, run] = [aRun(), aParkedRun()]
      const wait = aStep(run, { op: 'WaitForRun', status: 'waiting', awaitedRunId: awaited.id, ...OPEN })
      await write(store(), created(awaited), created(run, wait))
      const step: Step = { ...wait, status: 'cancelled', finishedAt: NOW }
      await write(store(), { type: 'step.moved', step }, { type: 'waits.due', runId: awaited.id, at: NOW + 90 })
      expect(await store().loadRun(run.id)).toEqual({ run, steps: [step], rootLogged: 0 })
    })

    it('has one outcome when two race for it', async () => {
      const run = aParkedRun()
      await write(store(), created(run, aWait(run)))
      const wake = (data: string) =>
        write(store(), {
          type: 'step.woken',
          runId: run.id,
          stepIndex: 0,
          status: 'succeeded',
          data,
          at: NOW,
        })
      await Promise.all([wake('1'), wake('2'), wake('3')])
      expect(await store().loadRun(run.id)).toMatchObject({ run: { fence: 1 }, steps: [{ data: '1' }] })
    })

    it('makes the late commit of the owner stale, and leaves its lease alone', async () => {
      const run = aLeasedRun()
      await write(store(), created(run, aWait(run)))
      await write(store(), {
        type: 'step.woken',
        runId: run.id,
        stepIndex: 0,
        status: 'succeeded',
        at: NOW + 1,
      })
      expect((await store().loadRun(run.id))?.run).toEqual({ ...run, fence: 1 })
      expect(await holds(store(), { type: 'run', runId: run.id, fence: run.fence })).toBe(false)
    })

    it('leaves the lease of a run alone that was claimed and still says that it waits', async () => {
      const run = aLeasedRun({ status: 'waiting' })
      await write(store(), created(run, aWait(run)))
      const woken = { type: 'step.woken', runId: run.id, stepIndex: 0, status: 'succeeded' } as const
      await write(store(), { ...woken, at: NOW + 1 })
      const { availableAt, leaseOwner } = (await store().loadRun(run.id))?.run ?? {}
      expect({ availableAt, leaseOwner }).toEqual({
        availableAt: run.availableAt,
        leaseOwner: run.leaseOwner,
      })
    })

    it('leaves a paused run paused', async () => {
      const run = aParkedRun({ status: 'paused', waitingFor: undefined })
      await write(store(), created(run, aWait(run)))
      await write(store(), {
        type: 'step.woken',
        runId: run.id,
        stepIndex: 0,
        status: 'succeeded',
        at: NOW + 1,
      })
      expect(await store().loadRun(run.id)).toMatchObject({
        run: { ...run, fence: 1 },
        steps: [{ status: 'succeeded' }],
      })
    })

    it('gives every wake of one run seqs of its own', async () => {
      const run = aParkedRun()
      await write(store(), created(run, ...[0, 1, 2].map(index => aWait(run, { index, seq: 3 + index }))))
      await write(
        store(),
        [2, 0, 1].map(
          (stepIndex): Change => ({
            type: 'step.woken',
            runId: run.id,
            stepIndex,
            status: 'succeeded',
            at: NOW,
          }),
        ),
      )
      const { frames } = await store().in(NS).timeline(run.id, { after: 5, limit: 10, openFrom: 0 })
      expect(frames.map(({ seq }) => seq)).toEqual([firstSeq(1), firstSeq(1) + 1, firstSeq(2), firstSeq(3)])
      expect((await store().loadRun(run.id))?.run).toMatchObject({ status: 'queued', fence: 3 })
    })

    it('wakes thousands in one unit', async () => {
      const runs = Array.from({ length: 2000 }, () => aParkedRun())
      await write(store(), ...runs.map(run => created(run, aWait(run))))
      const waiters = (await store().waiters({ namespace: NS, eventName: 'go' })).waiters
      expect(waiters).toHaveLength(2000)
      await store().commit({
        guards: [waitersAre(...waiters)],
        changes: waiters.map(
          ({ runId, stepIndex }): Change => ({
            type: 'step.woken',
            runId,
            stepIndex,
            status: 'succeeded',
            at: NOW,
          }),
        ),
      })
      expect((await store().waiters({ namespace: NS, eventName: 'go' })).waiters).toEqual([])
      const claim = { owner: 'e', now: NOW, leaseUntil: NOW + 1, limit: 5000 }
      expect(await store().claimRuns(claim)).toHaveLength(2000)
    })
  })

  describe('from outside, a unit', () => {
    const store = eachStore(open)

    it('requests the cancel of a live run: available at once, under a new fence, with its lease unchanged', async () => {
      const leased = aLeasedRun()
      const parked = aParkedRun()
      await write(store(), created(leased), created(parked))
      for (const run of [leased, parked]) {
        await write(store(), { type: 'run.cancelRequested', runId: run.id, at: NOW + 5 })
        expect((await store().loadRun(run.id))?.run).toEqual({
          ...run,
          cancelRequested: true,
          availableAt: NOW + 5,
          fence: run.fence + 1,
        })
      }
      await write(store(), { type: 'run.cancelRequested', runId: 'run_none', at: NOW })
    })

    it('makes held runs of the workflows available that the runner serves, and no others', async () => {
      const waitingFor = { kind: 'runner', until: NOW + 30_000 } as const
      const runs = ['order', 'or', 'order 2', 'refund', 'a%b'].map(workflow =>
        aRun({ status: 'queued', availableAt: waitingFor.until, waitingFor, workflow }),
      )
      await write(store(), ...runs.map(run => created(run)))
      const woken = async (workflows: string[], at: number) => {
        await write(store(), { type: 'app.runnerArrived', namespace: NS, app: 'shop', at, workflows })
        const found = await Promise.all(runs.map(async ({ id }) => (await store().loadRun(id))?.run))
        return found.flatMap(run => (run?.availableAt === at ? run.workflow : []))
      }
      expect(await woken([], NOW + 1)).toEqual([])
      expect(await woken(['order', 'ship', 'a%b'], NOW + 2)).toEqual(['order', 'a%b'])
      expect(await woken(['ship', 'or', 'order 2'], NOW + 3)).toEqual(['or', 'order 2'])
    })

    it('makes runs available that were held because the app had no runner, and no others', async () => {
      const waitingFor = { kind: 'runner', until: NOW + 30_000 } as const
      const held = { status: 'queued', availableAt: waitingFor.until, waitingFor } as const
      const runs = {
        held: aRun(held),
        full: aRun({ ...held, waitingFor: { kind: 'runner' } }),
        due: aRun({ ...held, availableAt: NOW - 5 }),
        leased: aRun({ ...held, leaseOwner: 'engine-1' }),
        otherApp: aRun({ ...held, app: 'mail' }),
        otherNamespace: aRun({ ...held, namespace: 'other' }),
        asleep: aRun({ ...held, status: 'waiting', waitingFor: { kind: 'sleep' } }),
        throttled: aRun({ ...held, waitingFor: { kind: 'throttle' } }),
      }
      await write(store(), ...Object.values(runs).map(run => created(run)))
      await write(store(), { type: 'app.runnerArrived', namespace: NS, app: 'shop', at: NOW + 1 })
      for (const [name, run] of Object.entries(runs)) {
        const availableAt = name === 'held' ? NOW + 1 : run.availableAt
        expect((await store().loadRun(run.id))?.run, name).toEqual({ ...run, availableAt })
      }
      // A run that has started is no longer held.
      const started = {
        ...runs.held,
        status: 'running',
        waitingFor: undefined,
        availableAt: NOW + 15_000,
      } as const
      await write(store(), moved(started))
      await write(store(), { type: 'app.runnerArrived', namespace: NS, app: 'shop', at: NOW + 2 })
      expect((await store().loadRun(runs.held.id))?.run.availableAt).toBe(NOW + 15_000)
    })
  })
}
