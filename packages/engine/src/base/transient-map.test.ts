import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { TransientMap } from './transient-map.ts'

const aKey = fc.integer({ min: 0, max: 12 })
const aCommand = fc.oneof(
  fc.record({ kind: fc.constant('set' as const), key: aKey }),
  fc.record({ kind: fc.constant('delete' as const), key: aKey }),
)

describe('TransientMap', () => {
  test('behaves like Map, whatever is added and removed', () => {
    fc.assert(
      fc.property(fc.array(aCommand, { maxLength: 100 }), commands => {
        const map = new TransientMap<number, { no: number }>()
        const expected = new Map<number, { no: number }>()
        for (const [no, { kind, key }] of commands.entries()) {
          const value = { no }
          if (kind === 'set') {
            map.set(key, value)
            expected.set(key, value)
          } else expect(map.delete(key)).toBe(expected.delete(key))
          expect(map.size).toBe(expected.size)
          expect(map.get(key)).toBe(expected.get(key))
          expect(map.has(key)).toBe(expected.has(key))
          expect([...map.values()]).toEqual([...expected.values()])
          expect([...map.entries()]).toEqual([...expected])
        }
      }),
    )
  })

  test('can be emptied during an iteration', () => {
    const map = new TransientMap<string, { name: string }>()
    for (const name of ['a', 'b', 'c']) map.set(name, { name })
    const seen: string[] = []
    for (const { name } of map.values()) {
      seen.push(name)
      map.delete(name)
      if (name === 'a') map.delete('b')
    }
    expect(seen).toEqual(['a', 'c'])
    expect(map.size).toBe(0)
  })
})
