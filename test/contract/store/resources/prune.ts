// Retention: the rows that it removes, and the rows that it keeps.

import { describe, expect, it } from 'vitest'
import type { Delivery } from '../../../../packages/engine/src/domain/model/delivery.ts'
import { type FlowRow, flowRowId } from '../../../../packages/engine/src/domain/model/flow-row.ts'
import type { Run } from '../../../../packages/engine/src/domain/model/run.ts'
import type { PrunedRows } from '../../../../packages/engine/src/domain/run/retention.ts'
import { derivedId, earliestId } from '../../../../packages/engine/src/domain/text/ids.ts'
import type { Store } from '../../../../packages/engine/src/ports/store.ts'
import {
  aDelivery,
  aLeasedRun,
  aLine,
  anEvent,
  aParkedRun,
  aRun,
  aStep,
  created,
  eachStore,
  moved,
  NOW,
  NS,
  type OpenStore,
  write,
} from '../samples.ts'

const DAY = 86_400_000
const LONG = JSON.stringify('x'.repeat(5000))

/** A run that ended this long after its start. */
function anEndedRun(fields: Partial<Run> = {}): Run {
  const { createdAt = NOW } = fields
  return aRun({
    status: 'succeeded',
    startedAt: createdAt,
    startedSeq: 2,
    finishedAt: createdAt,
    finishedSeq: 1_000_010,
    fence: 1,
    availableAt: undefined,
    ...fields,
  })
}

function aSettled(fields: Partial<Delivery> = {}): Delivery {
  const { createdAt = NOW } = fields
  return aDelivery({
    status: 'succeeded',
    availableAt: undefined,
    updatedAt: createdAt,
    attemptCount: 1,
    ...fields,
  })
}

function aClaim(key: string, expiresAt: number): FlowRow {
  const of = { namespace: NS, app: 'shop', workflow: 'order', policy: 'idempotency', key } as const
  return { id: flowRowId(of), ...of, version: 1, expiresAt, state: '{"eventId":"evt_1"}' }
}

const anAttempt = ({ id }: Delivery) => ({
  id: `att_${id}`,
  deliveryId: id,
  attempt: 1,
  outcome: 'succeeded' as const,
  durationMs: 1,
  createdAt: NOW,
})

/** Removes all rows of a kind, `limit` at a time; returns how many each time. */
async function drain(store: Store, rows: PrunedRows, before: number, limit = 200): Promise<number[]> {
  const counts: number[] = []
  for (;;) {
    const removed = await store.prune({ rows, before, limit })
    if (removed === 0) return counts
    counts.push(removed)
  }
}

const eventIds = async (store: Store, namespace = NS) =>
  (await store.in(namespace).events({ limit: 100 })).map(({ event }) => event.id).reverse()

export function pruneContract(open: OpenStore): void {
  describe('pruning', () => {
    const store = eachStore(open)

    it('removes a run with all that is its own, and nothing of its neighbours', async () => {
      const old = anEndedRun({ finishedAt: NOW - 1, input: LONG })
      const kept = anEndedRun({ input: LONG })
      for (const run of [old, kept]) {
        const steps = [aStep(run), aStep(run, { index: 1, status: 'failed', error: { message: 'no' } })]
        const { id: runId } = run
        const live: Run = { ...run, status: 'running', finishedAt: undefined, finishedSeq: undefined }
        await write(store(), created(live, ...steps), { type: 'log.written', line: aLine(run) })
        const frames = [{ seq: 50, ts: NOW, status: 'waiting', attempt: 1 } as const]
        await write(store(), { type: 'run.moved', run, frames })
        expect((await store().in(NS).logs(runId, { from: 0, limit: 9 })).length).toBe(1)
      }
      expect(await drain(store(), 'runs.succeeded', NOW)).toEqual([1])
      const reads = store().in(NS)
      expect(await store().loadRun(old.id)).toBeUndefined()
      expect(await reads.run(old.id)).toBeUndefined()
      expect(await reads.steps(old.id)).toEqual([])
      expect(await reads.logs(old.id, { from: 0, limit: 9 })).toEqual([])
      expect((await reads.runs({ limit: 9 })).map(({ id }) => id)).toEqual([kept.id])
      // A new run with the same id has no row of the old run: no step, no line, no frame, no input.
      const anew: Run = { ...old, status: 'queued', finishedAt: undefined, finishedSeq: undefined }
      await write(store(), created({ ...anew, input: undefined }))
      const again = await store().loadRun(old.id)
      expect(again?.run.input).toBeUndefined()
      expect(again).toMatchObject({ steps: [], rootLogged: 0 })
      expect(await reads.logs(old.id, { from: 0, limit: 9 })).toEqual([])
      const { frames } = await reads.timeline(old.id, { after: 2, limit: 99, openFrom: 0 })
      expect(frames).toEqual([])
      expect(await store().loadRun(kept.id)).toMatchObject({
        run: { input: LONG },
        steps: [{}, {}],
        rootLogged: 1,
      })
      expect((await reads.timeline(kept.id, { after: 0, limit: 99, openFrom: 0 })).frames).toContainEqual(
        expect.objectContaining({ seq: 50, status: 'waiting' }),
      )
    })

    it('removes the run of a workflow with a retention in the time of that, earlier or later than all others', async () => {
      const ends = [
        { finishedAt: NOW - 9 * DAY, until: NOW + 5 },
        { finishedAt: NOW - 9 * DAY },
        { finishedAt: NOW - 8, until: NOW - 1 },
        { finishedAt: NOW - 7 },
      ]
      const runs = ends.map(({ finishedAt }) => anEndedRun({ finishedAt }))
      for (const [i, { until }] of ends.entries()) {
        const run = runs[i] as Run
        await write(store(), created({ ...run, status: 'running', finishedAt: undefined, finishedSeq: undefined }))
        const kept = until === undefined ? [] : [{ type: 'run.kept' as const, runId: run.id, until }]
        await write(store(), { type: 'run.moved', run, frames: [] }, ...kept)
      }
      const left = async () => {
        const ids = (await store().in(NS).runs({ limit: 9 })).map(({ id }) => id)
        return runs.map((run, i) => (ids.includes(run.id) ? i : -1)).filter(i => i >= 0)
      }
      expect(await drain(store(), 'runs.succeeded', NOW - DAY)).toEqual([1])
      expect(await left()).toEqual([0, 2, 3])
      expect(await drain(store(), 'runs.ofWorkflow', NOW)).toEqual([1])
      expect(await left()).toEqual([0, 3])
      // A run whose end is committed late is still found.
      await write(store(), created(anEndedRun({ finishedAt: NOW - DAY - 1000 })))
      expect(await drain(store(), 'runs.succeeded', NOW - DAY)).toEqual([1])
      expect(await drain(store(), 'runs.ofWorkflow', NOW + 6)).toEqual([1])
      expect(await left()).toEqual([3])
    })

    it('leaves a run that is still cleaned up after, and removes it once that run has ended', async () => {
      const followed = anEndedRun({ finishedAt: NOW - 9 * DAY, status: 'failed' })
      const other = anEndedRun({ finishedAt: NOW - 9 * DAY + 1, status: 'failed' })
      const cleanup = aRun({ cleanupOf: followed.id, parentRunId: followed.id })
      await write(store(), created(followed), created(other), created(cleanup))
      const kept = { ...followed, id: `${followed.id}_kept` }
      const keptCleanup = aRun({ cleanupOf: kept.id })
      await write(store(), created({ ...kept, status: 'running', finishedAt: undefined, finishedSeq: undefined }))
      await write(store(), created(keptCleanup), { type: 'run.moved', run: kept, frames: [] })
      await write(store(), { type: 'run.kept', runId: kept.id, until: NOW - 1 })
      expect(await store().in(NS).cleanups(followed.id)).toEqual({ liveRunId: cleanup.id, begun: new Set() })
      expect(await drain(store(), 'runs.failed', NOW - DAY)).toEqual([1])
      expect(await drain(store(), 'runs.ofWorkflow', NOW)).toEqual([])
      for (const run of [cleanup, keptCleanup])
        await write(store(), {
          type: 'run.moved',
          run: { ...run, status: 'succeeded', finishedAt: NOW, finishedSeq: 9 },
          frames: [],
        })
      // Retention's position for the status has not passed the run.
      expect(await drain(store(), 'runs.failed', NOW - DAY)).toEqual([1])
      expect(await drain(store(), 'runs.ofWorkflow', NOW)).toEqual([1])
      expect(await store().in(NS).cleanups(followed.id)).toEqual({ begun: new Set() })
    })

    it('leaves the last run of a chain until the steps that wait for it have taken its end', async () => {
      const first = anEndedRun({ finishedAt: NOW - 9 * DAY, awaited: true })
      const links = { chainId: first.id, continuedFrom: first.id, awaited: true } as const
      const last = anEndedRun({ finishedAt: NOW - 8 * DAY, ...links })
      const waiter = aRun()
      const wait = aStep(waiter, { op: 'WaitForRun', status: 'waiting', awaitedRunId: first.id, data: undefined })
      await write(store(), created({ ...first, continuedAs: last.id }), created(last), created(waiter, wait))
      expect(await drain(store(), 'runs.succeeded', NOW - DAY)).toEqual([1])
      const left = async () => (await store().in(NS).newestOfChain(first.id))?.id
      expect(await left()).toBe(last.id)
      await write(store(), { type: 'step.moved', step: { ...wait, status: 'succeeded', data: '1' } })
      // Retention's position for the status has not passed the run.
      expect(await drain(store(), 'runs.succeeded', NOW - DAY)).toEqual([1])
      expect(await left()).toBeUndefined()
    })

    it('notes up to which time it has removed rows of a kind; a later batch of an earlier time changes nothing', async () => {
      await write(
        store(),
        created(anEndedRun({ finishedAt: NOW - 2 * DAY })),
        created(anEndedRun({ finishedAt: NOW - 1 })),
      )
      expect(await drain(store(), 'events', NOW)).toEqual([])
      expect(await store().prunedUpTo()).toEqual({})
      expect(await drain(store(), 'runs.succeeded', NOW - DAY)).toEqual([1])
      expect(await store().prunedUpTo()).toEqual({ runs: NOW - DAY })
      expect(await drain(store(), 'runs.succeeded', NOW)).toEqual([1])
      await write(store(), created(anEndedRun({ finishedAt: NOW - 2 * DAY, status: 'failed' })))
      expect(await drain(store(), 'runs.failed', NOW - DAY)).toEqual([1])
      expect(await store().prunedUpTo()).toEqual({ runs: NOW })
    })

    it('removes what a run watches for', async () => {
      const run = anEndedRun({ finishedAt: NOW - 1, cancelOn: [{ event: 'stop' }] })
      await write(store(), created(run))
      const query = { namespace: NS, eventName: 'stop', after: 0, limit: 9 }
      expect((await store().watchers(query)).watchers).toHaveLength(1)
      expect(await drain(store(), 'runs.succeeded', NOW)).toEqual([1])
      expect((await store().watchers(query)).watchers).toEqual([])
    })

    it('selects runs by status and end, and never one that has not ended', async () => {
      const live = [
        aRun({ createdAt: NOW - DAY }),
        aLeasedRun({ createdAt: NOW - DAY }),
        aParkedRun({ createdAt: NOW - DAY }),
        aRun({ createdAt: NOW - DAY, status: 'paused', availableAt: undefined }),
      ]
      const longRunning = anEndedRun({ createdAt: NOW - DAY, finishedAt: NOW })
      const failed = anEndedRun({
        createdAt: NOW - DAY,
        status: 'failed',
        error: { message: 'no', code: 'timeout' },
      })
      const gone = anEndedRun({ createdAt: NOW - DAY })
      await write(
        store(),
        [...live, longRunning, failed, gone].flatMap(run => created(run)),
      )
      expect(await drain(store(), 'runs.succeeded', NOW)).toEqual([1])
      expect(await drain(store(), 'runs.cancelled', NOW)).toEqual([])
      for (const run of [...live, longRunning, failed]) expect(await store().loadRun(run.id), run.id).toBeDefined()
      expect(await store().loadRun(gone.id)).toBeUndefined()
      expect(await drain(store(), 'runs.failed', NOW)).toEqual([1])
    })

    it('removes the oldest first, at most the limit at a time, and fewer when they have many rows', async () => {
      const runs = Array.from({ length: 130 }, (_, i) => anEndedRun({ finishedAt: NOW - 1000 + i }))
      await write(
        store(),
        runs.flatMap(run => created(run)),
      )
      expect(await store().prune({ rows: 'runs.succeeded', before: NOW, limit: 60 })).toBe(60)
      const left = (await store().in(NS).runs({ limit: 200, dir: 'asc' })).map(({ id }) => id)
      expect(left).toEqual(runs.slice(60).map(({ id }) => id))
      expect(await drain(store(), 'runs.succeeded', NOW, 60)).toEqual([60, 10])
      const heavy = Array.from({ length: 3 }, () => anEndedRun({ finishedAt: NOW - 1 }))
      for (const run of heavy)
        await write(store(), created(run, ...Array.from({ length: 800 }, (_, index) => aStep(run, { index }))))
      expect(await drain(store(), 'runs.succeeded', NOW)).toEqual([2, 1])
    })

    it('leaves nothing of the run for a stale owner or a reader', async () => {
      const run = anEndedRun({ finishedAt: NOW - 1 })
      const child = aLeasedRun({ parentRunId: run.id, parentStepIndex: 0 })
      await write(store(), created(run), created(child))
      await drain(store(), 'runs.succeeded', NOW)
      await expect(
        store().commit({ guards: [{ type: 'run', runId: run.id, fence: 1 }], changes: [moved(run)] }),
      ).rejects.toMatchObject({ guard: { type: 'run' } })
      // A child that answers a removed parent, or cancels it, changes nothing and causes no error.
      await write(
        store(),
        { type: 'step.woken', runId: run.id, stepIndex: 0, at: NOW, status: 'succeeded' },
        { type: 'run.cancelRequested', runId: run.id, at: NOW },
      )
      expect(await store().in(NS).run(child.id)).toMatchObject({ parentRunId: run.id })
    })

    it('removes settled deliveries with attempts and payloads; those under way, or sent anew, stay', async () => {
      const old = aSettled({ createdAt: NOW - DAY, payload: LONG })
      const dead = aSettled({ createdAt: NOW - DAY, status: 'dead' })
      const sentAnew = aSettled({ createdAt: NOW - DAY, updatedAt: NOW })
      const underWay = (['pending', 'delivering', 'failed'] as const).map(status =>
        aDelivery({ createdAt: NOW - DAY, updatedAt: NOW - DAY, status }),
      )
      const all = [old, dead, sentAnew, ...underWay]
      await write(
        store(),
        all.map(delivery => ({ type: 'delivery.created', delivery })),
        { type: 'delivery.attempted', attempt: anAttempt(old) },
        { type: 'delivery.attempted', attempt: anAttempt(sentAnew) },
      )
      expect(await drain(store(), 'deliveries', NOW)).toEqual([2])
      const reads = store().in(NS)
      for (const { id } of [old, dead]) expect(await reads.delivery(id)).toBeUndefined()
      for (const { id } of [sentAnew, ...underWay]) expect(await reads.delivery(id)).toBeDefined()
      expect((await reads.delivery(sentAnew.id))?.attempts).toHaveLength(1)
      await write(store(), { type: 'delivery.created', delivery: { ...old, payload: undefined } })
      expect(await reads.delivery(old.id)).toMatchObject({ delivery: { id: old.id }, attempts: [] })
      expect((await reads.delivery(old.id))?.delivery.payload).toBeUndefined()
    })

    it.each([
      ['a parked', aParkedRun({ createdAt: NOW - 2 * DAY })],
      ['a leased', aLeasedRun({ createdAt: NOW - 2 * DAY })],
      ['a paused', aRun({ createdAt: NOW - 2 * DAY, status: 'paused', availableAt: undefined })],
    ])('removes old events of every namespace, but none that %s run may still look back at', async (_, waiting) => {
      const at = (receivedAt: number, namespace = NS) => anEvent({ receivedAt, namespace })
      const [oldest, met, later] = [at(NOW - 3 * DAY), at(NOW - 2 * DAY), at(NOW - DAY / 2)]
      const others = [at(NOW - 3 * DAY, 'other'), at(NOW - 2 * DAY, 'other'), at(NOW - 1, 'other')]
      const event = (each: typeof oldest) => ({ type: 'event.recorded', event: each }) as const
      await write(
        store(),
        created(anEndedRun({ createdAt: NOW - 9 * DAY })),
        event(oldest),
        created(waiting),
        [met, later, ...others].map(event),
      )
      expect(await drain(store(), 'events', NOW - DAY)).toEqual([3])
      expect(await eventIds(store())).toEqual([met.id, later.id])
      expect(await eventIds(store(), 'other')).toEqual([others[2]?.id])
      const since = { namespace: NS, eventName: 'go', runId: waiting.id, after: 'run', limit: 9 } as const
      expect((await store().eventsSince(since)).map(({ event }) => event.id)).toEqual([met.id, later.id])
      // A run that lives forever does not keep the events forever.
      expect(await drain(store(), 'events', NOW + 90 * DAY - 2 * DAY + 1)).toEqual([2])
      expect(await eventIds(store())).toEqual([later.id])
      expect(await eventIds(store(), 'other')).toEqual([])
    })

    it('removes events so many at a time', async () => {
      const old = Array.from({ length: 5 }, (_, i) => anEvent({ receivedAt: NOW - DAY + i, namespace: `ns-${i % 2}` }))
      await write(
        store(),
        old.map(event => ({ type: 'event.recorded', event })),
      )
      expect(await drain(store(), 'events', NOW, 2)).toEqual([2, 2, 1])
    })

    it('removes claims the moment their window is over, and no sooner', async () => {
      const dedupe = (dedupeId: string, expiresAt: number) =>
        ({ type: 'dedupe.claimed', namespace: NS, app: '', dedupeId, expiresAt }) as const
      await write(store(), dedupe('over', NOW), dedupe('open', NOW + 1))
      await write(
        store(),
        { type: 'flow.saved', row: aClaim('over', NOW) },
        { type: 'flow.saved', row: aClaim('open', NOW + 1) },
      )
      const buffer: FlowRow = {
        ...aClaim('buffer', 0),
        id: 'buffer',
        policy: 'debounce',
        expiresAt: undefined,
        availableAt: NOW,
      }
      await write(store(), { type: 'flow.saved', row: buffer })
      expect(await drain(store(), 'dedupes', NOW)).toEqual([1])
      expect(await drain(store(), 'claims', NOW)).toEqual([1])
      expect(await store().dedupeClaim({ namespace: NS, app: '', dedupeId: 'open', now: NOW })).toEqual({})
      expect(await store().flowRow(aClaim('open', 0).id)).toBeDefined()
      expect(await store().flowRow(aClaim('over', 0).id)).toBeUndefined()
      expect(await store().flowRow('buffer')).toBeDefined()
    })

    it('removes old entries of the audit log', async () => {
      const action = (createdAt: number) => ({
        type: 'control.recorded' as const,
        action: {
          namespace: NS,
          id: `${earliestId('act', createdAt)}x`,
          action: 'cancel' as const,
          runId: 'run_1',
          createdAt,
        },
      })
      await write(store(), action(NOW - 2), action(NOW - 1), action(NOW))
      expect(await drain(store(), 'actions', NOW)).toEqual([2])
      expect(await store().in(NS).controlActions({ limit: 9 })).toMatchObject([{ createdAt: NOW }])
    })

    it('removes the idempotency keys of one workflow, some at a time, but none that a later event claimed', async () => {
      const claim = (key: string, at: number, workflow = 'order') => {
        const of = { namespace: NS, app: 'shop', workflow, policy: 'idempotency', key } as const
        const state = JSON.stringify({ eventId: derivedId('evt', at, key) })
        return { id: flowRowId(of), ...of, version: 1, expiresAt: NOW + 1000, state }
      }
      const gone = ['a', 'b', 'c', 'd', 'e'].map((key, i) => claim(key, NOW - i))
      const kept = [claim('f', NOW + 1), claim('a', NOW, 'refund')]
      await write(store(), ...[...gone, ...kept].map(row => ({ type: 'flow.saved' as const, row })))
      const of = { namespace: NS, app: 'shop', workflow: 'order', before: NOW + 1, limit: 2 }
      const drop = () => store().dropClaims(of)
      expect([await drop(), await drop(), await drop()]).toEqual([2, 2, 1])
      expect(await drop()).toBe(0)
      const found = await Promise.all(
        [...gone, ...kept].map(async ({ id }) => (await store().flowRow(id)) !== undefined),
      )
      expect(found).toEqual([false, false, false, false, false, true, true])
    })
  })
}
