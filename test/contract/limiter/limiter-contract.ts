// The promises of every Limiter adapter. Each adapter's test file opens one and calls this.

import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { LATE_MS_MAX } from '../../../packages/engine/src/domain/holds/throttle.ts'
import type { Limiter, Quota, StartQuota } from '../../../packages/engine/src/ports/limiter.ts'
import { seeded } from '../../kit/seeded.ts'

const START = 1_764_000_000_000
const SEEDS = 40

export function limiterContract(name: string, open: () => Promise<Limiter>): void {
  describe(`limiter contract: ${name}`, () => {
    let limiter: Limiter
    beforeEach(async () => {
      limiter = await open()
    })
    afterEach(() => limiter.close())

    const quota = (at: number, fields: Partial<Quota> = {}): Quota => ({
      key: 'a',
      limit: 2,
      periodMs: 1000,
      now: START + at,
      ...fields,
    })
    const take = (at: number, fields?: Partial<Quota>) => limiter.take(quota(at, fields))
    /** Whether the start was taken, and when the next one is free. */
    const start = async (at: number, fields: Partial<StartQuota> = {}) => {
      const { taken, freeAt } = await limiter.start({ ...quota(at), burst: 0, take: true, ...fields })
      return [taken, freeAt - START]
    }

    describe('take', () => {
      it('admits the limit at once, and again when the window has passed to the millisecond', async () => {
        expect([await take(0), await take(400), await take(400)]).toEqual([true, true, false])
        expect([await take(999), await take(1000), await take(1000)]).toEqual([false, true, false])
        expect([await take(1399), await take(1400)]).toEqual([false, true])
      })

      it('does not count refused takes', async () => {
        await take(0)
        await take(0)
        for (let at = 0; at < 1000; at += 50) expect(await take(at)).toBe(false)
        expect(await take(1000)).toBe(true)
      })

      it('counts keys separately', async () => {
        await take(0)
        await take(0)
        expect(await take(0)).toBe(false)
        expect(await take(0, { key: 'b' })).toBe(true)
      })

      it('takes a time before the newest as the newest', async () => {
        expect([await take(500), await take(100), await take(1400)]).toEqual([true, true, false])
        expect(await take(1500)).toBe(true)
      })

      it('forgets what was taken by a clock that was set back since', async () => {
        expect([await take(3_600_000), await take(3_600_000), await take(3_600_000)]).toEqual([true, true, false])
        expect([await take(0), await take(0), await take(0)]).toEqual([true, true, false])
        expect(await take(1000)).toBe(true)
      })

      it('admits exactly the limit of concurrent takes', async () => {
        const admitted = await Promise.all(Array.from({ length: 50 }, () => take(0, { limit: 7 })))
        expect(admitted.filter(Boolean)).toHaveLength(7)
      })

      it('has a peek, which takes nothing', async () => {
        const peek = (at: number) => limiter.peek(quota(at))
        expect([await peek(0), await take(0), await peek(0), await take(0)]).toEqual([true, true, true, true])
        expect([await peek(0), await peek(999), await peek(1000)]).toEqual([false, false, true])
      })

      it('is a sliding window for random takes', async () => {
        for (let seed = 1; seed <= SEEDS; seed++) {
          const random = seeded(seed)
          const fields = {
            key: `take ${seed}`,
            limit: random.between(1, 6),
            periodMs: random.between(1, 200),
          }
          const admitted: number[] = []
          for (let at = 0, i = 0; i < 150; i++, at += random.between(0, 60)) {
            const recent = admitted.filter(time => time + fields.periodMs > at)
            const expected = recent.length < fields.limit
            expect(await take(at, fields), `seed ${seed}, take ${i}`).toBe(expected)
            if (expected) admitted.push(at)
          }
        }
      })
    })

    describe('start', () => {
      it('forgets the starts of a clock that was set back since', async () => {
        expect(await start(3_600_000)).toEqual([true, 3_600_500])
        expect(await start(0)).toEqual([true, 500])
        expect(await start(0)).toEqual([false, 500])
      })

      it('spaces starts evenly, and reports when the next one is free', async () => {
        expect([await start(0), await start(0), await start(499)]).toEqual([
          [true, 500],
          [false, 500],
          [false, 500],
        ])
        expect([await start(500), await start(1400), await start(5000)]).toEqual([
          [true, 1000],
          [true, 1900],
          [true, 5500],
        ])
      })

      it('takes nothing when the start is not free, or `take` is false', async () => {
        const take = false
        expect([await start(0, { take }), await start(0, { take }), await start(0)]).toEqual([
          [false, 0],
          [false, 0],
          [true, 500],
        ])
        for (let at = 0; at < 500; at += 50) expect(await start(at)).toEqual([false, 500])
        expect([await start(500, { take }), await start(500)]).toEqual([
          [false, 500],
          [true, 1000],
        ])
      })

      it('lets a burst follow at once after an idle time', async () => {
        const burst = 2
        const free = [await start(0, { burst, take: false }), await start(0, { burst }), await start(0, { burst })]
        expect(free).toEqual([
          [false, -1000],
          [true, -500],
          [true, 0],
        ])
        expect([await start(0, { burst }), await start(0, { burst }), await start(500, { burst })]).toEqual([
          [true, 500],
          [false, 500],
          [true, 1000],
        ])
      })

      it('counts keys separately, also from takes of the same key', async () => {
        await take(0)
        expect([await start(0), await start(0, { key: 'b' })]).toEqual([
          [true, 500],
          [true, 500],
        ])
      })

      it('gives a start to one of many concurrent calls', async () => {
        const answers = await Promise.all(Array.from({ length: 20 }, () => start(0)))
        expect(answers.filter(([taken]) => taken)).toHaveLength(1)
      })

      it('keeps a spacing of fractions of a ms when called every ms', async () => {
        for (const limit of [300, 700, 3000]) {
          let taken = 0
          for (let at = 0; at < 1000; at++)
            while (taken <= limit && (await start(at, { key: `${limit}`, limit }))[0]) taken++
          expect(taken).toBe(1 + Math.floor((999 * limit) / 1000))
        }
      })

      it('keeps a fast rate although each start is taken late', async () => {
        let taken = 0
        for (let at = 0; at < 2000; at += 20) while (taken < 200 && (await start(at, { limit: 100 }))[0]) taken++
        expect(taken).toBe(199)
        // Idle time does not count as lateness.
        expect([await start(9000, { limit: 100 }), await start(9000, { limit: 100 })]).toEqual([
          [true, 9010],
          [false, 9010],
        ])
      })

      it('never admits more starts in a window than limit and burst, and the late ones before it', async () => {
        for (let seed = 1; seed <= SEEDS; seed++) {
          const random = seeded(seed)
          const isSlow = seed % 2 === 0
          const limit = random.between(1, 7)
          const periodMs = limit * LATE_MS_MAX * (isSlow ? 1 : 0.1) + random.between(0, 300)
          const spacing = periodMs / limit
          const fields = { key: `start ${seed}`, limit, periodMs, burst: random.between(0, 3) }
          const starts: number[] = []
          let free = 0
          for (let at = 0, i = 0; i < 150; i++, at += random.between(0, isSlow ? 200 : 80)) {
            const [taken, freeAt] = (await start(at, fields)) as [boolean, number]
            expect(taken, `seed ${seed}: free at ${free}, called at ${at}`).toBe(i === 0 || free <= at)
            free = freeAt
            if (taken) starts.push(at)
          }
          const most = Math.max(...starts.map(from => starts.filter(at => at >= from && at < from + periodMs).length))
          const late = Math.ceil(LATE_MS_MAX / spacing) - 1
          expect(most, `seed ${seed}`).toBeLessThanOrEqual(limit + fields.burst + Math.max(0, late))
        }
      })
    })
  })
}
