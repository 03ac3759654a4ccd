// The attributes of a run: its own column, and the rows by which lists find it.

import { describe, expect, it } from 'vitest'
import type { Change } from '../../../../packages/engine/src/domain/model/change.ts'
import type { Run } from '../../../../packages/engine/src/domain/model/run.ts'
import { aRun, created, eachStore, moved, NOW, NS, type OpenStore, write } from '../samples.ts'

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

    it('go with the run when its retention is over', async () => {
      const end = { status: 'succeeded', finishedAt: NOW, finishedSeq: 9, availableAt: undefined } as const
      const run = aRun({ ...end, attributes: { customer: 'c-1' } })
      await write(store(), created(run))
      await store().prune({ rows: 'runs.succeeded', before: NOW + 1, limit: 10 })
      await write(store(), created(aRun({ id: run.id })))
      expect(await found('customer:c-1')).toEqual([])
    })
  })
}
