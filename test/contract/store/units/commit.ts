// A unit is durable as a whole or not at all, and only while its guards hold.

import { describe, expect, it } from 'vitest'
import type { Change, Guard } from '../../../../packages/engine/src/domain/model/change.ts'
import { StaleError } from '../../../../packages/engine/src/domain/model/errors.ts'
import type { Run } from '../../../../packages/engine/src/domain/model/run.ts'
import {
  aDelivery,
  aLeasedRun,
  aLine,
  anEvent,
  aRun,
  aStep,
  aWait,
  created,
  eachStore,
  fenceOf,
  moved,
  NOW,
  NS,
  type OpenStore,
  write,
} from '../samples.ts'

const TRACE = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'

/** The guard that made a commit fail. */
async function staleGuard(commit: Promise<void>): Promise<Guard> {
  const error: unknown = await commit.then(
    () => new Error('it was not refused'),
    error => error,
  )
  if (!(error instanceof StaleError)) throw error
  return error.guard
}

export function commitContract(open: OpenStore): void {
  describe('commit', () => {
    const store = eachStore(open)

    it('makes every change of a unit visible to the reads that follow', async () => {
      const run = aLeasedRun()
      const event = anEvent()
      const delivery = aDelivery()
      await write(
        store(),
        created(run, aStep(run)),
        { type: 'log.written', line: aLine(run) },
        { type: 'event.recorded', event },
        { type: 'delivery.created', delivery },
      )
      const reads = store().in(NS)
      expect(await store().loadRun(run.id)).toEqual({ run, steps: [aStep(run)], rootLogged: 1 })
      expect(await reads.logs(run.id, { from: 0, limit: 10 })).toEqual([aLine(run)])
      expect(await reads.event(event.id)).toEqual(event)
      expect(await reads.delivery(delivery.id)).toEqual({ delivery, attempts: [] })
    })

    it('keeps every field of a run, also of one with all of them', async () => {
      const plain = aRun()
      const full: Required<Run> = {
        namespace: NS,
        id: 'run_full',
        workflow: 'refund',
        app: 'shop',
        status: 'failed',
        triggerKind: 'cron',
        eventName: 'order.paid',
        eventId: 'evt_1',
        collected: { names: ['order.placed'], receivedAt: [1, 2] },
        eventIds: ['evt_0', 'evt_1'],
        cron: '0 * * * *',
        replayOf: 'run_a',
        continuedFrom: 'run_c',
        continuedAs: 'run_d',
        chainId: 'run_c',
        awaited: true,
        signalled: true,
        inbox: 'run_0',
        parentRunId: 'run_b',
        parentStepIndex: 0,
        generation: 4,
        engineEvents: 2,
        runner: 'eu-1',
        trigger: { id: 'evt_1', name: 'order.paid' },
        failure: { message: 'no', stack: 'at x', name: 'TypeError' },
        cleanupOf: 'run_e',
        budgets: [{ id: 'run_b', whenExceeded: 'fail' }, { id: 'run_c' }],
        input: '{"n":12345678901234567890, "k":"\\u0000"}',
        result: 'null',
        error: { message: 'bad', code: 'step_failed', stepName: 'charge' },
        attempt: 3,
        transportTries: 2,
        createdAt: NOW,
        ...{ startedAt: NOW + 1, startedSeq: 2 },
        finishedAt: NOW + 2,
        finishedSeq: 5_000_009,
        waitingFor: {
          kind: 'event',
          stepName: 's',
          until: NOW + 9,
          eventName: 'e',
          childRunId: 'c',
          ...{ key: 'k', stepIds: ['hash'] },
        },
        lastFailure: { message: 'worse', stack: 'at y', code: 'handler_failed' },
        singletonKey: 'customer-1',
        ...{ startKey: 'account-17', startedBy: { runId: 'run_f', stepName: 'notify' }, startAt: NOW + 1 },
        cancelOn: [{ event: 'order.stopped' }, { event: 'stop', if: 'async.data.a == event.data.a' }],
        cancelRequested: true,
        skipsCleanup: true,
        fence: 5,
        availableAt: NOW + 3,
        leaseOwner: 'engine-1',
        holds: { slots: [{ id: 's', limit: 2, key: 'k' }], runTimeoutMs: 9 },
        priority: -1.5,
        progress: { value: '{"done": 3}', at: NOW + 2, seq: 8 },
        attributes: { customer: 'c-1\u0000', vip: true, items: 2.5 },
        waitsForSlot: 's',
        startQueue: 't',
        leasedWithoutSlots: true,
        trace: TRACE,
        lastPass: { pass: 7, runner: 'eu-1', passSentAt: NOW + 1 },
      }
      const traced = aRun({ trace: TRACE })
      await write(store(), created(plain), created(full), created(traced))
      expect((await store().loadRun(plain.id))?.run).toEqual(plain)
      expect((await store().loadRun(full.id))?.run).toEqual(full)
      expect((await store().loadRun(traced.id))?.run).toEqual(traced)
    })

    it('moves the mutable part of a run and leaves the rest alone', async () => {
      const run = aRun({ input: '{"a":1}', eventName: 'order.paid' })
      await write(store(), created(run))
      const later: Run = {
        ...run,
        status: 'waiting',
        fence: 1,
        availableAt: NOW + 60_000,
        attempt: 2,
        transportTries: 1,
        startedAt: NOW + 1,
        startedSeq: 1_000_001,
        waitingFor: { kind: 'sleep', stepName: 'nap', until: NOW + 60_000 },
      }
      await write(store(), moved(later))
      expect((await store().loadRun(run.id))?.run).toEqual(later)
      const ended = {
        ...later,
        status: 'succeeded',
        result: '[1]',
        finishedAt: NOW + 9,
        finishedSeq: 2_000_001,
      } as const
      await write(store(), moved({ ...ended, waitingFor: undefined, availableAt: undefined }))
      expect((await store().loadRun(run.id))?.run).toEqual({
        ...ended,
        waitingFor: undefined,
        availableAt: undefined,
      })
    })

    it('keeps every field of a step through record and move', async () => {
      const run = aLeasedRun()
      const waiting = aStep(run, {
        op: 'WaitForEvent',
        status: 'waiting',
        finishedAt: undefined,
        data: undefined,
        wakeAt: NOW + 5,
        eventName: 'go',
        condition: 'async.data.a == 1',
      })
      const settled = {
        ...waiting,
        status: 'failed' as const,
        attempt: 2,
        seq: 9,
        finishedAt: NOW + 6,
        data: 'null',
        error: { message: 'no', name: 'E' },
        nextAttemptAt: NOW + 7,
        eventId: 'evt_1',
        childRunId: 'run_c',
        deliveryId: 'dlv_1',
        emittedEventId: 'evt_2',
        carried: true,
        timedOut: true,
        spentAt: 2,
        maxAttempts: 5,
      }
      await write(store(), created(run, waiting))
      expect(await store().in(NS).steps(run.id)).toEqual([waiting])
      await write(store(), { type: 'step.moved', step: settled })
      expect(await store().in(NS).steps(run.id)).toEqual([settled])
    })

    it('keeps payloads of any length, through every later move', async () => {
      const lengths = [0, 1999, 2000, 2001, 100_000]
      const payload = (length: number) => JSON.stringify('ü'.repeat(length))
      const runs = lengths.map(length => aRun({ input: payload(length) }))
      const delivery = aDelivery({ payload: payload(50_000) })
      await write(store(), ...runs.map(run => created(run)), { type: 'delivery.created', delivery })
      for (const run of runs) {
        await write(store(), moved(run, { fence: 1, result: run.input }))
        const expected = { ...run, fence: 1, result: run.input }
        expect((await store().loadRun(run.id))?.run).toEqual(expected)
        expect(await store().in(NS).run(run.id)).toEqual(expected)
      }
      await write(store(), { type: 'delivery.moved', delivery: { ...delivery, attemptCount: 1 } })
      expect((await store().in(NS).delivery(delivery.id))?.delivery.payload).toBe(delivery.payload)
    })

    it('refuses a unit whose run has another fence, and writes nothing of it', async () => {
      const run = aLeasedRun()
      await write(store(), created(run))
      const guard = { ...fenceOf(run), fence: 1 } as Guard
      const unit = { guards: [guard], changes: [{ type: 'step.recorded', step: aStep(run) } as Change] }
      expect(await staleGuard(store().commit(unit))).toBe(guard)
      expect(await store().in(NS).steps(run.id)).toEqual([])
      await store().commit({ ...unit, guards: [fenceOf(run)] })
      expect(await store().in(NS).steps(run.id)).toHaveLength(1)
    })

    it('refuses a unit about a run or delivery that does not exist', async () => {
      const run: Guard = { type: 'run', runId: 'run_none', fence: 0 }
      const delivery: Guard = { type: 'delivery', deliveryId: 'dlv_none', fence: 0 }
      expect(await staleGuard(store().commit({ guards: [run], changes: [] }))).toBe(run)
      expect(await staleGuard(store().commit({ guards: [delivery], changes: [] }))).toBe(delivery)
    })

    it('refuses a unit that rests on fewer steps than there are, or on older ones', async () => {
      const [run, other] = [aLeasedRun(), aLeasedRun()]
      const waiting = aWait(run, { index: 1, seq: 4 })
      await write(store(), created(run, aStep(run, { seq: 3 }), waiting), created(other, aStep(other, { seq: 99 })))
      const guard = (seq: number): Guard => ({ type: 'steps', runId: run.id, seq })
      const check = (seq: number) => store().commit({ guards: [guard(seq)], changes: [] })
      expect(await staleGuard(check(3))).toEqual(guard(3))
      await check(4)
      await write(store(), {
        type: 'step.moved',
        step: { ...waiting, seq: 5, status: 'failed', finishedAt: NOW },
      })
      expect(await staleGuard(check(4))).toEqual(guard(4))
      await check(5)
    })

    it('names the first guard that does not hold', async () => {
      const run = aRun()
      const delivery = aDelivery()
      await write(store(), created(run), { type: 'delivery.created', delivery })
      const good = fenceOf(run)
      const bad: Guard = { type: 'delivery', deliveryId: delivery.id, fence: 7 }
      const worse: Guard = { type: 'run', runId: run.id, fence: 7 }
      expect(await staleGuard(store().commit({ guards: [good, bad, worse], changes: [] }))).toBe(bad)
    })

    it('checks guards before the changes of the same unit', async () => {
      const run = aRun()
      await write(store(), created(run))
      await store().commit({ guards: [fenceOf(run)], changes: [moved(run, { fence: 1 })] })
      expect((await store().loadRun(run.id))?.run.fence).toBe(1)
    })

    it('lets exactly one of many units that rest on the same fence win', async () => {
      const run = aRun()
      await write(store(), created(run))
      const tries = Array.from({ length: 40 }, (_, i) =>
        store().commit({ guards: [fenceOf(run)], changes: [moved(run, { fence: 1, attempt: 10 + i })] }),
      )
      const outcomes = await Promise.allSettled(tries)
      const won = outcomes.flatMap((outcome, i) => (outcome.status === 'fulfilled' ? [i] : []))
      expect(won).toEqual([0])
      for (const outcome of outcomes.slice(1)) {
        expect(outcome).toMatchObject({ reason: expect.any(StaleError) })
      }
      expect((await store().loadRun(run.id))?.run.attempt).toBe(10)
    })

    it('lets a unit fail alone among others on their way with it', async () => {
      const runs = Array.from({ length: 20 }, () => aLeasedRun())
      await write(store(), ...runs.map(run => created(run)))
      const outcomes = await Promise.allSettled(
        runs.map((run, i) =>
          store().commit({
            guards: [i % 3 === 0 ? ({ ...fenceOf(run), fence: 9 } as Guard) : fenceOf(run)],
            changes: [{ type: 'step.recorded', step: aStep(run) }],
          }),
        ),
      )
      for (const [i, run] of runs.entries()) {
        expect(outcomes[i]?.status, `unit ${i}`).toBe(i % 3 === 0 ? 'rejected' : 'fulfilled')
        expect(await store().in(NS).steps(run.id), `unit ${i}`).toHaveLength(i % 3 === 0 ? 0 : 1)
      }
    })

    it('lets a unit that cannot be stored fail alone, and all of it', async () => {
      const runs = Array.from({ length: 12 }, () => aLeasedRun())
      await write(store(), ...runs.map(run => created(run)))
      const outcomes = await Promise.allSettled(
        runs.map((run, i) => {
          const steps = i % 4 === 1 ? [aStep(run), aStep(run)] : [aStep(run)]
          const changes = steps.map((step): Change => ({ type: 'step.recorded', step }))
          return store().commit({ guards: [], changes })
        }),
      )
      for (const [i, run] of runs.entries()) {
        expect(outcomes[i]?.status, `unit ${i}`).toBe(i % 4 === 1 ? 'rejected' : 'fulfilled')
        expect(await store().in(NS).steps(run.id), `unit ${i}`).toHaveLength(i % 4 === 1 ? 0 : 1)
      }
      for (const outcome of outcomes) {
        if (outcome.status === 'rejected') expect(outcome.reason).not.toBeInstanceOf(StaleError)
      }
    })

    it('never changes a run that has ended', async () => {
      const run = aRun({ status: 'cancelled', availableAt: undefined, finishedAt: NOW, finishedSeq: 2 })
      await write(store(), created(run))
      await expect(write(store(), moved(run, { status: 'succeeded', result: '1' }))).rejects.toThrow()
      await write(store(), { type: 'run.cancelRequested', runId: run.id, at: NOW })
      expect((await store().loadRun(run.id))?.run).toEqual(run)
    })

    it('never changes a settled step', async () => {
      const run = aLeasedRun()
      const step = aStep(run)
      await write(store(), created(run, step))
      await expect(write(store(), { type: 'step.moved', step: { ...step, data: '2' } })).rejects.toThrow()
      expect(await store().in(NS).steps(run.id)).toEqual([step])
    })

    it('gives a step that was cancelled with its run an end only by a late answer', async () => {
      const run = aRun({ status: 'cancelled', availableAt: undefined, finishedAt: NOW, finishedSeq: 9 })
      const cancelled = aStep(run, { status: 'cancelled', data: undefined })
      await write(store(), created(run, cancelled))
      const step = { ...cancelled, status: 'succeeded', data: '2' } as const
      await expect(write(store(), { type: 'step.moved', step })).rejects.toThrow()
      await write(store(), { type: 'step.moved', step, isLate: true })
      await expect(write(store(), { type: 'step.moved', step, isLate: true })).rejects.toThrow()
      expect(await store().in(NS).steps(run.id)).toEqual([step])
    })

    it('moves a wait that an event settled behind others', async () => {
      const run = aLeasedRun()
      const step = aStep(run, { op: 'WaitForEvent', eventName: 'paid', eventId: 'evt_1' })
      const behind = { ...step, seq: step.seq + 9 }
      await write(store(), created(run, step))
      await write(store(), { type: 'step.moved', step: behind, at: NOW })
      expect(await store().in(NS).steps(run.id)).toEqual([behind])
    })

    it('refuses to move a row that does not exist', async () => {
      await expect(write(store(), moved(aRun()))).rejects.toThrow()
      await expect(write(store(), { type: 'step.moved', step: aStep(aRun()) })).rejects.toThrow()
      await expect(write(store(), { type: 'delivery.moved', delivery: aDelivery() })).rejects.toThrow()
    })

    it('keeps the first of repeated rows, without an error', async () => {
      const run = aRun({ input: JSON.stringify('x'.repeat(5000)) })
      const event = anEvent({ data: '1' })
      const delivery = aDelivery()
      const app = { namespace: NS, name: 'shop', createdAt: NOW }
      const changes: Change[] = [
        ...created(run),
        { type: 'event.recorded', event },
        { type: 'delivery.created', delivery },
        { type: 'app.seen', app },
        { type: 'log.written', line: aLine(run) },
      ]
      await write(store(), changes)
      await write(
        store(),
        created({ ...run, workflow: 'other' }),
        { type: 'event.recorded', event: { ...event, data: '2' } },
        { type: 'delivery.created', delivery: { ...delivery, url: 'https://other.test' } },
        { type: 'app.seen', app: { ...app, createdAt: NOW + 1 } },
        { type: 'log.written', line: { ...aLine(run), seq: 777, message: 'other' } },
      )
      expect((await store().loadRun(run.id))?.run).toEqual(run)
      expect(await store().in(NS).event(event.id)).toEqual(event)
      expect((await store().in(NS).delivery(delivery.id))?.delivery).toEqual(delivery)
      expect((await store().catalog()).apps).toEqual([app])
      expect(await store().in(NS).logs(run.id, { from: 0, limit: 10 })).toEqual([aLine(run)])
    })

    it('takes an empty unit', async () => {
      await store().commit({ guards: [], changes: [] })
    })

    it('stores a unit far larger than a batch', async () => {
      const run = aLeasedRun()
      const steps = Array.from({ length: 3000 }, (_, index) =>
        aStep(run, { index, data: JSON.stringify('x'.repeat(2000)) }),
      )
      await write(store(), created(run, ...steps, aWait(run, { index: 3000 })))
      const loaded = await store().loadRun(run.id)
      expect([loaded?.steps.length, loaded?.steps[2999]]).toEqual([3001, steps[2999]])
    })
  })
}
