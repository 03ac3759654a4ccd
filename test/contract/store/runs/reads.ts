// The reads of a namespace, their order and their pages.

import { describe, expect, it } from 'vitest'
import type { Change } from '../../../../packages/engine/src/domain/model/change.ts'
import type { Run } from '../../../../packages/engine/src/domain/model/run.ts'
import type { StepQuery } from '../../../../packages/engine/src/ports/store-reads.ts'
import {
  aLeasedRun,
  aLine,
  aParkedRun,
  aRun,
  aStep,
  aWait,
  created,
  eachStore,
  NOW,
  NS,
  type OpenStore,
  write,
} from '../samples.ts'

const ended = { finishedAt: NOW, finishedSeq: 9, availableAt: undefined } as const
const REPORTED = { pass: 3, runner: 'r', passSentAt: NOW + 1, ranAt: NOW + 2, ranMs: 3 }

export function readsContract(open: OpenStore): void {
  describe('reads', () => {
    const store = eachStore(open)

    it('answer nothing for what does not exist', async () => {
      const reads = store().in(NS)
      expect(await reads.run('run_none')).toBeUndefined()
      expect(await reads.steps('run_none')).toEqual([])
      expect(await reads.logs('run_none', { from: 0, limit: 10 })).toEqual([])
      expect(await reads.event('evt_none')).toBeUndefined()
      expect(await reads.delivery('dlv_none')).toBeUndefined()
      expect(await reads.runs({ limit: 10 })).toEqual([])
      expect(await reads.events({ limit: 10 })).toEqual([])
      expect(await store().loadRun('run_none')).toBeUndefined()
    })

    it('list runs newest first, without input and result', async () => {
      const done = aRun({
        ...ended,
        status: 'succeeded',
        createdAt: NOW + 5,
        input: '1',
        result: '2',
        eventId: 'evt_1',
      })
      const older = aRun({ createdAt: NOW + 1, input: '{"big":true}' })
      const oldest = aRun({ createdAt: NOW + 1 - 1 })
      await write(store(), created(older), created(done), created(oldest))
      const expected = [done, older, oldest].map(run => ({ ...run, input: undefined, result: undefined }))
      expect(await store().in(NS).runs({ limit: 10 })).toEqual(expected)
      expect(await store().in(NS).run(done.id)).toEqual(done)
    })

    it('read the steps of a run with large results, in which other reads come in between', async () => {
      const run = aRun()
      const data = (index: number) => JSON.stringify(String(index % 10).repeat(index === 3 ? 3_000_000 : 700_000))
      const steps = Array.from({ length: 9 }, (_, index) => aStep(run, { index, data: data(index) }))
      await write(store(), created(run), ...steps.map((step): Change => ({ type: 'step.recorded', step })))
      const reads = store().in(NS)
      const order: string[] = []
      const read = reads.steps(run.id).then(found => {
        order.push('steps')
        return found
      })
      for (let i = 0; i < 2; i++) await reads.status(run.id)
      order.push('status')
      expect(await read).toEqual(steps)
      expect(order).toEqual(['status', 'steps'])
      expect(await store().in('other').steps(run.id)).toEqual([])
    })

    it('read the steps of a run in parts: by status, by name, in pages, without results', async () => {
      const run = aRun()
      const steps = Array.from({ length: 7 }, (_, index) => {
        const status = index % 3 === 1 ? ('failed' as const) : ('succeeded' as const)
        const data = JSON.stringify('x'.repeat(index === 2 ? 3_000_000 : 10))
        return aStep(run, { index, name: `${index % 2 ? 'Charge' : 'mail'}-${index}`, status, data })
      })
      await write(store(), created(run), ...steps.map((step): Change => ({ type: 'step.recorded', step })))
      const found = async (query: StepQuery) => (await store().in(NS).steps(run.id, query)).map(({ index }) => index)
      expect(await found({ status: ['failed'] })).toEqual([1, 4])
      expect(await found({ status: ['failed', 'waiting'], after: 1 })).toEqual([4])
      expect(await found({ q: 'cHARGE' })).toEqual([1, 3, 5])
      expect(await found({ q: 'charge', status: ['succeeded'], limit: 1 })).toEqual([3])
      expect(await found({ limit: 3 })).toEqual([0, 1, 2])
      expect(await found({ limit: 3, after: 1 })).toEqual([2, 3, 4])
      expect(await found({ limit: 30, after: 5 })).toEqual([6])
      expect(await found({ after: 6 })).toEqual([])
      const page = await store().in(NS).steps(run.id, { withoutData: true, limit: 3 })
      expect(page).toEqual(steps.slice(0, 3).map(step => ({ ...step, data: undefined })))
    })

    it('read one step with the frames that ended its attempts, newest of many', async () => {
      const run = aRun()
      const step = aStep(run, { index: 1, status: 'retrying', attempt: 1, error: { message: 'no' }, ...REPORTED })
      const again = { ...step, attempt: 2, seq: step.seq + 1, error: { message: 'again no' } }
      const { error: _, ...done } = { ...again, attempt: 3, status: 'succeeded' as const, seq: step.seq + 2 }
      await write(
        store(),
        created(run),
        { type: 'step.recorded', step: aStep(run, { index: 0, seq: step.seq + 9 }) },
        { type: 'step.recorded', step, at: NOW + 5 },
        { type: 'step.moved', step: again, at: NOW + 7 },
        { type: 'step.moved', step: done, at: NOW + 9 },
      )
      const frame = { stepIndex: 1, status: 'retrying' as const, ...REPORTED }
      const expected = [
        { ...frame, ts: NOW + 5, attempt: 1, error: { message: 'no' } },
        { ...frame, ts: NOW + 7, attempt: 2, error: { message: 'again no' } },
      ]
      expect(await store().in(NS).step(run.id, step.id)).toEqual({ step: done, frames: expected })
      expect(await store().in(NS).step(run.id, 'none')).toBeUndefined()
      expect(await store().in('other').step(run.id, step.id)).toBeUndefined()
    })

    it('name the step a run is at', async () => {
      const name = async (run: Run) => {
        const [[listed], one] = [await store().in(NS).runs({ limit: 1 }), await store().in(NS).run(run.id)]
        expect(listed?.id).toBe(run.id)
        expect(listed?.currentStepName).toBe(one?.currentStepName)
        return one?.currentStepName
      }
      const fresh = aLeasedRun({ createdAt: NOW + 1 })
      await write(store(), created(fresh))
      expect(await name(fresh)).toBeUndefined()

      const busy = aLeasedRun({ createdAt: NOW + 2 })
      await write(store(), created(busy, aStep(busy), aStep(busy, { index: 1, seq: 4 })))
      expect(await name(busy)).toBe('step 1')

      const parked = aParkedRun({ createdAt: NOW + 3 })
      const waits = [0, 1].map(index => aWait(parked, { index, seq: 3 + index, name: `wait ${index}` }))
      await write(store(), created(parked, ...waits, aStep(parked, { index: 2, seq: 5 })))
      expect(await name(parked)).toBe('wait 1')

      const steps = (run: Run) => [
        aStep(run, { status: 'failed' }),
        aStep(run, { index: 1, seq: 4, status: 'cancelled' }),
      ]
      const failed = aRun({
        ...ended,
        status: 'failed',
        createdAt: NOW + 4,
        error: { message: 'no', stepName: 'step 0' },
      })
      await write(store(), created(failed, ...steps(failed)))
      expect(await name(failed)).toBe('step 0')

      const unreachable = aRun({ ...ended, status: 'failed', createdAt: NOW + 5, error: { message: 'no' } })
      await write(store(), created(unreachable, ...steps(unreachable)))
      expect(await name(unreachable)).toBe('step 1')

      for (const [i, status] of (['succeeded', 'cancelled'] as const).entries()) {
        const over = aRun({ ...ended, status, createdAt: NOW + 6 + i })
        await write(store(), created(over, ...steps(over)))
        expect(await name(over)).toBeUndefined()
      }
    })

    it('answer steps in index order', async () => {
      const run = aLeasedRun()
      const steps = [3, 0, 12, 1].map(index => aStep(run, { index, seq: 3 + index }))
      await write(store(), created(run, ...steps))
      expect((await store().in(NS).steps(run.id)).map(({ index }) => index)).toEqual([0, 1, 3, 12])
    })

    it('answer log lines behind a seq, oldest or newest first, up to the limit', async () => {
      const run = aLeasedRun()
      const lines = [5, 3, 9].map(index => aLine(run, { index, fields: '{"n":12345678901234567890}' }))
      await write(
        store(),
        created(run),
        lines.map(line => ({ type: 'log.written' as const, line })),
      )
      const seqs = async (from: number, limit: number) =>
        (await store().in(NS).logs(run.id, { from, limit })).map(({ seq }) => seq)
      expect(await seqs(0, 10)).toEqual([103, 105, 109])
      expect(await seqs(103, 10)).toEqual([105, 109])
      expect(await seqs(0, 2)).toEqual([103, 105])
      expect(await store().in(NS).logs(run.id, { from: 108, limit: 1 })).toEqual([lines[2]])
      const newest = await store().in(NS).logs(run.id, { from: 0, limit: 2, dir: 'desc' })
      expect(newest.map(({ seq }) => seq)).toEqual([109, 105])
    })

    it('answer a ping', async () => {
      await store().ping()
    })
  })
}
