// The attributes of a run, in a column of the run and in rows for lists; and its progress, which is only a column.

import { describe, expect, it } from 'vitest'
import type { Change } from '../../../../packages/engine/src/domain/model/change.ts'
import type { Run } from '../../../../packages/engine/src/domain/model/run.ts'
import { aLeasedRun, aRun, aStep, created, eachStore, moved, NOW, NS, type OpenStore, write } from '../samples.ts'

export function attributesContract(open: OpenStore): void {
  describe('attributes of a run', () => {
    const store = eachStore(open)
    const found = async (...attribute: string[]) =>
      (await store().in(NS).runs({ attribute, limit: 9 })).map(({ id }) => id)

    /** The commit of a pass that changes the attributes. */
    function changed(run: Run, attributes: Run['attributes'], texts: { added: string[]; removed: string[] }): Change[] {
      const { namespace, id: runId, fence } = run
      return [
        moved(run, { attributes, fence: fence + 1 }),
        { type: 'run.attributed', namespace, runId, ...(attributes && { attributes }), ...texts },
      ]
    }

    it('are found as the last commit left them, and a second insert brings none back', async () => {
      const run = aRun({ attributes: { customer: 'c:1', vip: true } })
      await write(store(), created(run), created(aRun({ namespace: 'other', attributes: { vip: true } })))
      expect(await found('customer:c:1', 'vip:true')).toEqual([run.id])
      const texts = { added: ['vip:false'], removed: ['vip:true'] }
      await write(store(), changed(run, { customer: 'c:1', vip: false }, texts))
      expect(await found('vip:true')).toEqual([])
      expect(await found('vip:false')).toEqual([run.id])
      await write(store(), created(run))
      expect(await found('vip:true')).toEqual([])
      expect((await store().in(NS).run(run.id))?.attributes).toEqual({ customer: 'c:1', vip: false })
      const none = { added: [], removed: ['customer:c:1', 'vip:false'] }
      await write(store(), changed({ ...run, fence: run.fence + 1 }, undefined, none))
      expect(await found('customer:c:1')).toEqual([])
      expect((await store().in(NS).run(run.id))?.attributes).toBeUndefined()
    })

    it('are found with a status, as long as the run has it', async () => {
      const end = { finishedAt: NOW, finishedSeq: 9, availableAt: undefined }
      const [failed, live] = [aRun({ attributes: { vip: true } }), aRun({ attributes: { vip: true } })]
      const of = async (...status: Run['status'][]) =>
        (
          await store()
            .in(NS)
            .runs({ attribute: ['vip:true'], status, limit: 9 })
        ).map(({ id }) => id)
      await write(store(), created(failed), created(live))
      expect(await of('queued')).toEqual([live.id, failed.id])
      await write(store(), moved(failed, { ...end, status: 'failed', fence: 2 }))
      expect([await of('queued'), await of('failed'), await of('succeeded', 'cancelled')]).toEqual([
        [live.id],
        [failed.id],
        [],
      ])
      // Given in the commit that ends the run.
      const texts = { added: ['plan:pro'], removed: [] }
      const last = changed(live, { vip: true, plan: 'pro' }, texts)
      await write(store(), moved(live, { ...end, status: 'succeeded', fence: 2 }), ...last.slice(1))
      expect(await of('succeeded')).toEqual([live.id])
      const filter = { attribute: ['plan:pro', 'vip:true'], status: ['succeeded'] as const }
      expect(
        (
          await store()
            .in(NS)
            .runs({ ...filter, limit: 9 })
        ).map(({ id }) => id),
      ).toEqual([live.id])
    })

    it('go with the run when its retention is over', async () => {
      const end = { status: 'succeeded', finishedAt: NOW, finishedSeq: 9, availableAt: undefined } as const
      const run = aRun({ ...end, attributes: { customer: 'c-1' } })
      await write(store(), created(run))
      await store().prune({ rows: 'runs.succeeded', before: NOW + 1, limit: 10 })
      await write(store(), created(aRun({ id: run.id })))
      expect(await found('customer:c-1')).toEqual([])
    })
  })
  describe('progress of a run', () => {
    const store = eachStore(open)

    it('is the newest one, with its text, and a frame of the timeline', async () => {
      const run = aLeasedRun()
      await write(store(), created(run))
      for (const seq of [5, 7]) {
        const progress = { value: `{"done": ${seq}}`, at: NOW + seq, seq }
        await write(store(), { type: 'run.progressed', run: { ...run, progress }, progress })
      }
      const step = aStep(run, { seq: 6, startedAt: NOW + 2, finishedAt: NOW + 3 })
      await write(store(), { type: 'step.recorded', step })
      const reads = store().in(NS)
      const { frames } = await reads.timeline(run.id, { after: 2, limit: 9, openFrom: 0 })
      expect(frames.map(({ seq }) => seq)).toEqual([6, 7])
      const ts = new Date(NOW + 7).toISOString()
      expect(frames[1]).toEqual({ kind: 'progress', seq: 7, ts, runId: run.id, value: '{"done": 7}' })
      const newest = { value: '{"done": 7}', at: NOW + 7, seq: 7 }
      expect((await reads.run(run.id))?.progress).toEqual(newest)
      expect(await reads.progress(run.id)).toEqual({ ...newest, runId: run.id, workflow: run.workflow, app: run.app })
      expect(await store().in('other').progress(run.id)).toBeUndefined()
      expect((await reads.runs({ limit: 1 }))[0]?.progress).toBeUndefined()
    })
  })
}
