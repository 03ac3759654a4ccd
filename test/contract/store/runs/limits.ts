// Reads for the list of limits: ends of runs that had a slot, and live runs with the key of a singleton.

import { describe, expect, it } from 'vitest'
import type { Run } from '../../../../packages/engine/src/domain/model/run.ts'
import { aRun, created, eachStore, NOW, NS, type OpenStore, write } from '../samples.ts'

export function limitsContract(open: OpenStore): void {
  describe('reads of limits', () => {
    const store = eachStore(open)
    const ended = (slots: string[], fields: Partial<Run> = {}) =>
      aRun({
        ...{ status: 'succeeded', startedAt: NOW, startedSeq: 2, finishedAt: NOW + 10, finishedSeq: 9 },
        ...{ availableAt: undefined, holds: { slots: slots.map(id => ({ id, limit: 1 })) }, ...fields },
      })

    it('count the ends of runs that had a place, in the window and of the namespace', async () => {
      const runs = [
        ...[ended(['s']), ended(['t', 's'], { status: 'cancelled' }), ended(['s'], { finishedAt: NOW - 1 })],
        ...[ended(['s'], { namespace: 'other' }), ended(['s'], { startedAt: undefined }), aRun()],
      ]
      await write(store(), ...runs.map(run => created(run)))
      const { ends } = await store().in(NS).limits({ limit: 10, endedSince: NOW })
      expect(ends.map(({ bySlot, oldestAt }) => [[...bySlot].sort(), oldestAt])).toEqual([
        [[['s', 1]], undefined],
        [[], undefined],
        [
          [
            ['s', 1],
            ['t', 1],
          ],
          undefined,
        ],
      ])
    })

    it('list live singletons of the namespace by app and workflow, the oldest first', async () => {
      const [first, other, crm, ...rest] = [
        aRun({ singletonKey: 'a', startedAt: NOW, startedSeq: 2, status: 'running' }),
        aRun({ singletonKey: '', workflow: 'bill' }),
        aRun({ singletonKey: 'a', app: 'crm' }),
        ...[ended([], { singletonKey: 'a' }), aRun(), aRun({ singletonKey: 'a', namespace: 'other' })],
      ] as [Run, Run, Run, ...Run[]]
      await write(store(), ...[first, other, crm, ...rest].map(run => created(run)))
      const list = async (query: { app?: string; workflow?: string; limit?: number }) =>
        (
          await store()
            .in(NS)
            .singletons({ limit: 10, ...query })
        ).map(({ id }) => id)
      expect(await list({})).toEqual([first.id, other.id, crm.id])
      expect(await list({ limit: 2 })).toEqual([first.id, other.id])
      expect(await list({ app: 'crm' })).toEqual([crm.id])
      expect(await list({ workflow: 'bill', app: 'shop' })).toEqual([other.id])
      const [found] = await store().in(NS).singletons({ limit: 1 })
      const { id, app, workflow, createdAt } = first
      expect(found).toEqual({ id, app, workflow, createdAt, startedAt: NOW, singletonKey: 'a' })
    })
  })
}
