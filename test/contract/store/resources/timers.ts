// Flow-control rows, their claims, and the list of schedules.

import { describe, expect, it } from 'vitest'
import { type FlowRow, flowRowId } from '../../../../packages/engine/src/domain/model/flow-row.ts'
import type { Claim } from '../../../../packages/engine/src/ports/store.ts'
import { eachStore, holds, NOW, NS, type OpenStore, write } from '../samples.ts'

function aClaim(fields: Partial<Claim> = {}): Claim {
  return { owner: 'engine-1', now: NOW, leaseUntil: NOW + 15_000, limit: 100, ...fields }
}

function aRow(fields: Partial<FlowRow> = {}): FlowRow {
  const row = {
    namespace: NS,
    app: 'shop',
    workflow: 'order',
    policy: 'debounce' as const,
    key: '',
    version: 1,
    availableAt: NOW,
    state: '{"n":1}',
    ...fields,
  }
  return { id: flowRowId(row), ...row }
}

const saved = (row: FlowRow) => ({ type: 'flow.saved' as const, row })

export function timersContract(open: OpenStore): void {
  describe('flow-control rows', () => {
    const store = eachStore(open)

    it('are what was saved last, until they are deleted', async () => {
      const row = aRow({ expiresAt: NOW + 9 })
      expect(await store().flowRow(row.id)).toBeUndefined()
      await write(store(), saved(row))
      expect(await store().flowRow(row.id)).toEqual(row)
      const { availableAt: _, expiresAt: __, ...idle } = { ...row, version: 2, state: '[]' }
      await write(store(), saved(idle))
      expect(await store().flowRow(row.id)).toEqual(idle)
      await write(store(), { type: 'flow.deleted', id: row.id })
      expect(await store().flowRow(row.id)).toBeUndefined()
    })

    it('are guarded by their version, or by not being there', async () => {
      const row = aRow({ version: 2 ** 40 })
      const guard = (version: number) => holds(store(), { type: 'flow', id: row.id, version })
      expect(await guard(0)).toBe(true)
      await write(store(), saved(row))
      expect([await guard(0), await guard(1), await guard(2 ** 40)]).toEqual([false, false, true])
      await store().claimTimers(aClaim())
      expect([await guard(2 ** 40), await guard(2 ** 40 + 1)]).toEqual([false, true])
    })

    it('that are due are leased, under a new version', async () => {
      const row = aRow({ version: 7 })
      await write(store(), saved(row))
      const claimed = await store().claimTimers(aClaim())
      const leased = { ...row, version: 8, leaseOwner: 'engine-1', availableAt: NOW + 15_000 }
      expect(claimed).toEqual([leased])
      expect(await store().flowRow(row.id)).toEqual(leased)
      expect(await store().claimTimers(aClaim({ now: NOW + 14_999 }))).toEqual([])
      expect(await store().claimTimers(aClaim({ now: NOW + 15_000 }))).toMatchObject([{ version: 9 }])
    })

    it('are taken oldest first, up to the limit, in every namespace', async () => {
      const times = [30, 10, 20, 40, 0]
      const rows = times.map((ms, i) => aRow({ key: `${ms}`, namespace: `n${i}`, availableAt: NOW + ms }))
      const { availableAt: _, ...never } = aRow({ key: 'never' })
      await write(store(), ...rows.map(saved), saved(never))
      const claim = async (now: number, limit: number) =>
        (await store().claimTimers(aClaim({ now, limit, leaseUntil: now + 15_000 }))).map(({ key }) => key)
      expect(await claim(NOW - 1, 10)).toEqual([])
      expect(await claim(NOW + 30, 2)).toEqual(['0', '10'])
      expect(await claim(NOW + 30, 10)).toEqual(['20', '30'])
      expect(await claim(NOW + 40, 10)).toEqual(['40'])
    })

    it('go to one of many claims', async () => {
      await write(store(), ...Array.from({ length: 30 }, (_, i) => saved(aRow({ key: `${i}` }))))
      const claims = Array.from({ length: 10 }, (_, i) => store().claimTimers(aClaim({ owner: `e${i}`, limit: 7 })))
      const claimed = (await Promise.all(claims)).flat().map(({ key }) => key)
      expect(claimed).toHaveLength(30)
      expect(new Set(claimed).size).toBe(30)
    })

    it('have a next due time', async () => {
      expect(await store().nextAvailableAt('timers')).toBeUndefined()
      const { availableAt: _, ...never } = aRow({ key: 'never' })
      await write(store(), saved(never), saved(aRow({ availableAt: NOW + 9 })))
      expect(await store().nextAvailableAt('timers')).toBe(NOW + 9)
      expect(await store().nextAvailableAt('timers', NOW + 9)).toBeUndefined()
      expect(await store().nextAvailableAt('runs')).toBeUndefined()
    })

    it('are released when their owner is gone; an owner does not release its own', async () => {
      const row = aRow()
      const later = aRow({ key: 'later', availableAt: NOW + 99 })
      await write(store(), saved(row), saved(later))
      await store().claimTimers(aClaim())
      await store().releaseOthers('engine-1', NOW + 5)
      expect(await store().claimTimers(aClaim({ now: NOW + 5 }))).toEqual([])
      await store().releaseOthers('engine-2', NOW + 5)
      const { leaseOwner: _, ...free } = { ...row, version: 3, availableAt: NOW + 5 }
      expect(await store().flowRow(row.id)).toEqual(free)
      expect(await store().flowRow(later.id)).toEqual(later)
    })

    it('of schedules are listed, those of the namespace alone', async () => {
      const cron = (fields: Partial<FlowRow>) => aRow({ policy: 'cron', key: '0 * * * *', ...fields })
      const rows = [
        cron({ app: 'b' }),
        cron({ app: 'a', workflow: 'z' }),
        cron({ app: 'a', key: '9 * * * *' }),
        cron({ app: 'a' }),
      ]
      await write(store(), ...rows.map(saved), saved(cron({ namespace: 'other' })), saved(aRow()))
      expect(await store().in(NS).schedules()).toEqual([rows[3], rows[2], rows[1], rows[0]])
    })
  })
}
