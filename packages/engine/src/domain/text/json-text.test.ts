// The texts of a JSON text's parts agree with JSON.parse of the whole, in every notation.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { arrayElements, jsonDepth, objectMembers } from './json-text.ts'

const space = fc.stringMatching(/^[ \t\r\n]{0,3}$/)
/** Any UTF-16 code unit, or a pair. The unit `binary` of fast-check takes two seconds to build. */
const unit = fc.oneof(
  fc.nat(0xffff).map(code => String.fromCharCode(code)),
  fc.constant('😀'),
)
const name = fc.oneof(
  fc.constantFrom('a', '__proto__', '', '"', '\\', '\\"', 'é', '\ud800', '{', ']'),
  fc.string({ unit }),
)

/** A string as JSON, each character plain or escaped. */
const stringText = name.chain(value =>
  fc
    .boolean()
    .map(escaped =>
      escaped
        ? `"${[...value.split('')].map(c => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')}"`
        : JSON.stringify(value),
    ),
)
const scalarText = fc.oneof(
  stringText,
  fc.constantFrom('null', 'true', 'false', '0', '-0', '1.0', '12345678901234567890', '1E+400', '2e-3'),
)

/** JSON text with odd spacing, escapes and duplicate keys. */
const {
  value: jsonText,
  array: arrayText,
  object: objectText,
} = fc.letrec<Record<string, string>>(tie => ({
  value: fc.oneof({ maxDepth: 4, withCrossShrink: true }, scalarText, tie('array'), tie('object')),
  array: fc.array(fc.tuple(space, tie('value'), space), { maxLength: 5 }).chain(parts => bracketed('[', parts, ']')),
  object: fc
    .array(fc.tuple(space, stringText, space, space, tie('value'), space), { maxLength: 5 })
    .map(parts => parts.map(([a, key, b, c, value, d]): Part => [`${a}${key}${b}:${c}`, value, d]))
    .chain(parts => bracketed('{', parts, '}')),
}))

type Part = [before: string, value: string, after: string]

function bracketed(open: string, parts: Part[], close: string) {
  const inner = parts.map(part => part.join('')).join(',')
  return fc.tuple(space, space).map(([a, b]) => `${a}${open}${parts.length === 0 ? a : inner}${close}${b}`)
}

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  return 1 + Math.max(0, ...Object.values(value).map(depthOf))
}

describe('the members of an object', () => {
  it('are those JSON.parse sees, the last of equal keys, as texts of the whole without space around them', () => {
    fc.assert(
      fc.property(objectText as fc.Arbitrary<string>, text => {
        const parsed = JSON.parse(text) as Record<string, unknown>
        const members = objectMembers(text)
        expect([...members.keys()].sort()).toEqual(Object.keys(parsed).sort())
        for (const [key, raw] of members) {
          expect(JSON.parse(raw)).toEqual(parsed[key])
          expect(text).toContain(raw)
          expect(raw).toBe(raw.trim())
        }
      }),
    )
  })

  it('keep every digit, escape and inner space', () => {
    const members = objectMembers(' {"n" :12345678901234567890 , "x":1.0,"s":"\\u0041\\"]}" ,"o":{ "a" : [ ] }}')
    expect([...members]).toEqual([
      ['n', '12345678901234567890'],
      ['x', '1.0'],
      ['s', '"\\u0041\\"]}"'],
      ['o', '{ "a" : [ ] }'],
    ])
  })

  it('are found under keys written with escapes', () => {
    expect(objectMembers('{"d\\u0061ta":1}').get('data')).toBe('1')
  })
})

describe('the elements of an array', () => {
  it('are those JSON.parse sees', () => {
    fc.assert(
      fc.property(arrayText as fc.Arbitrary<string>, text => {
        expect(arrayElements(text).map(raw => JSON.parse(raw) as unknown)).toEqual(JSON.parse(text))
      }),
    )
  })

  it('are texts of the whole, in order', () => {
    expect(arrayElements('[ 1.0 ,"a,]" , [ 2 , 3 ],{"b" : 4} ]')).toEqual(['1.0', '"a,]"', '[ 2 , 3 ]', '{"b" : 4}'])
    expect(arrayElements(' [ ] ')).toEqual([])
  })
})

describe('the depth of a text', () => {
  it('is that of what JSON.parse sees', () => {
    // Duplicate keys hide what JSON.parse does not see: the text may be deeper, never shallower.
    fc.assert(
      fc.property(jsonText as fc.Arbitrary<string>, text => {
        expect(jsonDepth(text)).toBeGreaterThanOrEqual(depthOf(JSON.parse(text)))
      }),
    )
    fc.assert(
      fc.property(fc.jsonValue(), value => {
        expect(jsonDepth(JSON.stringify(value, null, 1))).toBe(depthOf(JSON.parse(JSON.stringify(value))))
      }),
    )
  })

  it('counts no bracket inside a string', () => {
    expect(jsonDepth('{"a[[[":"]]{{\\"{{"}')).toBe(1)
  })

  it('accepts any text, also one that is no JSON', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('"', '\\', '[', ']', '{', '}', 'a') }), text => {
        expect(jsonDepth(text)).toBeGreaterThanOrEqual(0)
      }),
    )
  })
})
