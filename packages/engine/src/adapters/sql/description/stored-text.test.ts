import fc from 'fast-check'
import { expect, it } from 'vitest'
import { fromStored, toStored } from './stored-text.ts'

/** Any sequence of UTF-16 code units; the interesting ones occur more often than by chance. */
const units = fc.array(
  fc.oneof(fc.constantFrom(0, 0x1a, 0x22, 0x5c, 0x61, 0xd800, 0xdbff, 0xdc00, 0xdfff), fc.nat(0xffff)),
)
const anyString = units.map(codes => String.fromCharCode(...codes))

it('gives back every string', () => {
  fc.assert(
    fc.property(anyString, text => {
      expect(fromStored(toStored(text))).toBe(text)
    }),
  )
})

it('stores only what SQL text can hold', () => {
  fc.assert(
    fc.property(anyString, text => {
      const stored = toStored(text)
      expect(stored).not.toContain('\0')
      expect(Buffer.from(stored, 'utf8').toString('utf8')).toBe(stored)
    }),
  )
})

it('leaves everyday text alone', () => {
  for (const text of ['', 'run_01', 'naïve 😀', '{"a":"\\u0000"}', '"\\ud800"', '\n\t']) {
    expect(toStored(text)).toBe(text)
  }
})

it('never gives two strings one form', () => {
  const pairs = fc.tuple(anyString, anyString).filter(([a, b]) => a !== b)
  fc.assert(
    fc.property(pairs, ([a, b]) => {
      expect(toStored(a)).not.toBe(toStored(b))
    }),
  )
  // A string that looks like a stored form is not mistaken for one.
  expect(toStored(toStored('\0'))).not.toBe(toStored('\0'))
})
