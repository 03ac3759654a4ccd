import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { NOW } from '../testkit/nouns.testkit.ts'
import { derivedId, earliestId, IdSource, timeOfId } from './ids.ts'

const ULID = /^run_[0-7][0-9A-HJKMNP-TV-Z]{25}$/
const time = fc.integer({ min: 0, max: 253_402_300_799_999 })

describe('a derived id', () => {
  it('is a prefix and a ULID', () => {
    expect(derivedId('run', NOW, 'evt_1', 'shop', 'order')).toMatch(ULID)
  })

  it('is the same for the same parts and time, and for no others', () => {
    const id = derivedId('run', NOW, 'evt_1', 'shop')
    expect(derivedId('run', NOW, 'evt_1', 'shop')).toBe(id)
    expect(derivedId('run', NOW + 1, 'evt_1', 'shop')).not.toBe(id)
    expect(derivedId('run', NOW, 'evt_1', 'shop', '')).not.toBe(id)
    expect(derivedId('run', NOW, 'evt_1s', 'hop')).not.toBe(id)
    expect(derivedId('evt', NOW, 'evt_1', 'shop').slice(4)).toBe(id.slice(4))
  })

  it('sorts by time', () => {
    fc.assert(
      fc.property(time, time, fc.string(), fc.string(), (a, b, x, y) => {
        fc.pre(a < b)
        expect(derivedId('run', a, x) < derivedId('run', b, y)).toBe(true)
      }),
    )
  })
})

describe('the earliest id of a time', () => {
  it('parts the ids before it from the rest', () => {
    fc.assert(
      fc.property(time, time, fc.string(), (at, from, part) => {
        expect(derivedId('run', at, part) >= earliestId('run', from)).toBe(at >= from)
      }),
    )
  })
})

describe('drawn ids', () => {
  it('are a prefix and a ULID of their time', () => {
    const id = new IdSource(() => 0.5).next('run', NOW)
    expect(id).toMatch(ULID)
    expect(id.slice(0, 14)).toBe(derivedId('run', NOW, 'x').slice(0, 14))
  })

  it('strictly rise, within one ms and when the clock is set back', () => {
    const clock = fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 2, maxLength: 200 })
    const chance = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
    fc.assert(
      fc.property(clock, chance, (offsets, chance) => {
        const source = new IdSource(() => chance)
        const ids = offsets.map(offset => source.next('evt', NOW + offset))
        expect(ids).toEqual([...new Set(ids)].sort())
      }),
    )
  })

  it('of exactly their time go back with the clock, and are unlike each other', () => {
    const source = new IdSource(() => 0.5)
    const times = [NOW, NOW, NOW - 1000, NOW + 1, NOW - 1000]
    const ids = times.map(now => source.nextAt('run', now))
    for (const id of ids) expect(id).toMatch(ULID)
    expect(ids.map(id => id.slice(0, 14))).toEqual(times.map(now => earliestId('run', now)))
    expect(new Set(ids).size).toBe(times.length)
    expect((ids[0] as string) < (ids[1] as string)).toBe(true)
  })

  it('begin with their time', () => {
    const id = new IdSource(() => 0.5).nextAt('run', NOW)
    expect([timeOfId(id), timeOfId(earliestId('run', 1))]).toEqual([NOW, 1])
  })

  it('rise over every digit within one ms', () => {
    const source = new IdSource(() => 0.999_999)
    const ids = Array.from({ length: 100 }, () => source.next('evt', NOW))
    expect(ids).toEqual([...new Set(ids)].sort())
  })
})
