// What every Limiter adapter promises, told once. Each adapter's test file opens one and calls this.

import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Limiter, Quota } from '../../../packages/engine/src/ports/limiter.ts'
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
    const reserve = async (at: number, burst = 0, fields?: Partial<Quota>) =>
      (await limiter.reserve({ ...quota(at, fields), burst })) - START

    describe('take', () => {
      it('admits the limit at once, and again when the window has passed to the millisecond', async () => {
        expect([await take(0), await take(400), await take(400)]).toEqual([true, true, false])
        expect([await take(999), await take(1000), await take(1000)]).toEqual([false, true, false])
        expect([await take(1399), await take(1400)]).toEqual([false, true])
      })

      it('does not count what it refused', async () => {
        await take(0)
        await take(0)
        for (let at = 0; at < 1000; at += 50) expect(await take(at)).toBe(false)
        expect(await take(1000)).toBe(true)
      })

      it('keeps keys apart', async () => {
        await take(0)
        await take(0)
        expect(await take(0)).toBe(false)
        expect(await take(0, { key: 'b' })).toBe(true)
      })

      it('takes a time before the newest for the newest', async () => {
        expect([await take(500), await take(100), await take(1400)]).toEqual([true, true, false])
        expect(await take(1500)).toBe(true)
      })

      it('admits exactly the limit to many who ask at once', async () => {
        const admitted = await Promise.all(Array.from({ length: 50 }, () => take(0, { limit: 7 })))
        expect(admitted.filter(Boolean)).toHaveLength(7)
      })

      it('can be looked at without taking', async () => {
        const peek = (at: number) => limiter.peek(quota(at))
        expect([await peek(0), await take(0), await peek(0), await take(0)]).toEqual([true, true, true, true])
        expect([await peek(0), await peek(999), await peek(1000)]).toEqual([false, false, true])
      })

      it('is a sliding window, whatever comes when', async () => {
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

    describe('reserve', () => {
      it('spaces starts evenly', async () => {
        expect([await reserve(0), await reserve(0), await reserve(0)]).toEqual([0, 500, 1000])
        expect([await reserve(1400), await reserve(5000), await reserve(5000)]).toEqual([1500, 5000, 5500])
      })

      it('lets a burst follow at once after a quiet time', async () => {
        expect([await reserve(0, 2), await reserve(0, 2), await reserve(0, 2)]).toEqual([0, 0, 0])
        expect([await reserve(0, 2), await reserve(0, 2)]).toEqual([500, 1000])
      })

      it('keeps keys apart, and from takes of the same name', async () => {
        await take(0)
        expect([await reserve(0), await reserve(0, 0, { key: 'b' })]).toEqual([0, 0])
      })

      it('never answers a time before now, nor more starts in a window than limit and burst', async () => {
        for (let seed = 1; seed <= SEEDS; seed++) {
          const random = seeded(seed)
          const fields = {
            key: `reserve ${seed}`,
            limit: random.between(1, 7),
            periodMs: random.between(10, 300),
          }
          const burst = random.between(0, 3)
          const starts: number[] = []
          for (let at = 0, i = 0; i < 120; i++, at += random.between(0, 80)) {
            const start = await reserve(at, burst, fields)
            expect(start).toBeGreaterThanOrEqual(at)
            starts.push(start)
          }
          const most = Math.max(
            ...starts.map(from => starts.filter(at => at >= from && at < from + fields.periodMs).length),
          )
          expect(most, `seed ${seed}`).toBeLessThanOrEqual(fields.limit + burst)
        }
      })
    })
  })
}
