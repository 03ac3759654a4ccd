// Posts to webhook endpoints, counted per time span and removed together with the span.

import { describe, expect, it } from 'vitest'
import type { Change } from '../../../../packages/engine/src/domain/model/change.ts'
import type { CountedPost } from '../../../../packages/engine/src/domain/model/delivery.ts'
import { eachStore, NOW, NS, type OpenStore, write } from '../samples.ts'

export function endpointPostsContract(open: OpenStore): void {
  describe('posts to endpoints', () => {
    const store = eachStore(open)
    const HOUR_MS = 3_600_000
    const start = Math.floor(NOW / HOUR_MS) * HOUR_MS
    let posts = 0
    const post = (counted: Omit<CountedPost, 'namespace'> & { namespace?: string }): Change => {
      const attempt = { deliveryId: 'dlv_counted', id: 'att', outcome: 'succeeded', durationMs: 1 } as const
      return {
        type: 'delivery.attempted',
        attempt: { ...attempt, attempt: ++posts, createdAt: counted.at },
        counted: { namespace: NS, ...counted },
      }
    }
    const span = (fields: object = {}) => ({ step: '1h' as const, since: start, until: start + 2 * HOUR_MS, ...fields })

    it('are counted by span, endpoint, outcome and class of duration', async () => {
      const at = start + 1000
      const one = { endpointId: 'whe_1', at, outcome: 'succeeded', durationClass: 12 } as const
      await write(store(), [
        post(one),
        post(one),
        post({ ...one, outcome: 'failed', durationClass: -1 }),
        post({ ...one, at: at + HOUR_MS, durationClass: 30 }),
        post({ ...one, endpointId: 'whe_2' }),
        post({ ...one, namespace: 'other' }),
      ])
      const tally = (succeeded: number, failed: number, ...counts: [number, number][]) => ({
        succeeded,
        failed,
        durations: { sumMs: 0, counts: new Map(counts) },
      })
      const reads = store().in(NS)
      expect(await reads.endpointSeries(span({ endpointId: 'whe_1' }))).toEqual(
        new Map([
          [start, tally(2, 1, [12, 2])],
          [start + HOUR_MS, tally(1, 0, [30, 1])],
        ]),
      )
      expect((await reads.endpointSeries(span())).get(start)).toEqual(tally(3, 1, [12, 3]))
      expect([...(await reads.endpointSeries(span({ since: start + HOUR_MS }))).keys()]).toEqual([start + HOUR_MS])
      const day = { step: '1d' as const, since: 0, until: NOW * 2, endpointId: 'whe_2' }
      expect([...(await reads.endpointSeries(day)).values()]).toEqual([tally(1, 0, [12, 1])])
      expect(await store().in('nobody').endpointSeries(span())).toEqual(new Map())
    })

    it('are forgotten with their span, the longer spans later', async () => {
      await write(store(), post({ endpointId: 'whe_1', at: start, outcome: 'failed', durationClass: 3 }))
      const pruned = { before: start + 1, limit: 100 }
      const prune = (rows: 'rollups.5m' | 'rollups.1h') => store().prune({ rows, ...pruned })
      expect([await prune('rollups.5m'), await prune('rollups.5m')]).toEqual([2, 0])
      const reads = store().in(NS)
      expect(await reads.endpointSeries({ ...span(), step: '5m' })).toEqual(new Map())
      expect((await reads.endpointSeries(span())).size).toBe(1)
      expect([await prune('rollups.1h'), await prune('rollups.1h')]).toEqual([2, 0])
      expect((await reads.endpointSeries(span())).size).toBe(0)
    })
  })
}
