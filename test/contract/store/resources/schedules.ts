// Lists of schedules in the order of their next instants, and of missed ones, with the crons of workflows and the schedules of
// the API together.

import { describe, expect, it } from 'vitest'
import type { FlowRow } from '../../../../packages/engine/src/domain/model/flow-row.ts'
import type { SortedSchedulesQuery } from '../../../../packages/engine/src/ports/schedule-reads.ts'
import { eachStore, NOW, NS, type OpenStore, write } from '../samples.ts'

function aRow(id: string, { missedUntil, ...fields }: Partial<FlowRow> & { missedUntil?: number } = {}): FlowRow {
  const missed = missedUntil === undefined ? {} : { missed: { from: missedUntil - 1, until: missedUntil } }
  return {
    ...{ id, namespace: NS, app: '', workflow: '', policy: 'schedule', key: id, version: 1, availableAt: NOW },
    state: JSON.stringify(missed),
    ...fields,
  }
}

export function schedulesContract(open: OpenStore): void {
  describe('sorted schedules', () => {
    const store = eachStore(open)
    const save = (...rows: FlowRow[]) =>
      write(
        store(),
        rows.map(row => ({ type: 'flow.saved' as const, row })),
      )

    /** The ids of all pages. */
    async function ids(query: Omit<SortedSchedulesQuery, 'after'>): Promise<string[]> {
      const found: string[] = []
      let after: SortedSchedulesQuery['after']
      for (;;) {
        const rows = await store()
          .in(NS)
          .sortedSchedules({ ...query, after })
        found.push(...rows.map(({ row }) => row.id))
        const last = rows.at(-1)
        if (!last) return found
        after = { at: last.at, id: last.row.id }
      }
    }

    it('begin with the soonest, and have no paused ones and no other rows', async () => {
      await save(
        ...[aRow('b', { availableAt: NOW + 2 }), aRow('cron', { policy: 'cron', availableAt: NOW + 1 })],
        ...[aRow('late', { availableAt: NOW - 9 }), aRow('a', { availableAt: NOW + 2 })],
        ...[aRow('paused', { availableAt: undefined }), aRow('other', { namespace: 'other' })],
        aRow('event', { policy: 'event', dueAt: NOW }),
      )
      for (const limit of [1, 2, 9]) expect(await ids({ sort: 'next', limit })).toEqual(['late', 'cron', 'a', 'b'])
      expect(await ids({ sort: 'next', policy: 'cron', limit: 9 })).toEqual(['cron'])
      expect(await ids({ sort: 'next', policy: 'schedule', limit: 9 })).toEqual(['late', 'a', 'b'])
    })

    it('list those with missed instants alone, the latest first, until they miss none', async () => {
      const row = aRow('a', { missedUntil: 5 })
      await save(
        ...[
          row,
          aRow('b', { missedUntil: 7, policy: 'cron', availableAt: undefined }),
          aRow('c'),
          aRow('d', { missedUntil: 5 }),
        ],
        ...[
          aRow('data', { state: '{"eventData":{"missed":{"until":9}}}' }),
          aRow('e', { missedUntil: 8, namespace: 'other' }),
        ],
      )
      for (const limit of [1, 2, 9]) expect(await ids({ sort: 'missed', limit })).toEqual(['b', 'd', 'a'])
      await save({ ...row, version: 2, state: '{}' })
      expect(await ids({ sort: 'missed', limit: 9 })).toEqual(['b', 'd'])
    })
  })
}
