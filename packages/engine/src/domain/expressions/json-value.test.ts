// JSON texts as expressions see them: digits and members are kept.

import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { EventSubject } from './event-subject.ts'
import { Expression } from './expression.ts'
import { jsonValue } from './json-value.ts'

const scopeOf = (data: string) => ({ event: new EventSubject({ name: 'a', data }).subject })
const holds = (source: string, data: string) => new Expression(source, 'condition').holds(scopeOf(data))
const key = (source: string, data: string) => new Expression(source, 'key').key(scopeOf(data))

describe('a whole number that a double cannot hold', () => {
  const data = `{"id":1840000000000000001,"next":1840000000000000002,"same" : 1840000000000000001 ,"n":5,"ten":10,
    "half":0.5,"minus":-9007199254740993,"huge":99999999999999999999999,"all":[1,1840000000000000001],"text":"1840000000000000001"}`

  test.each([
    ['event.data.id == 1840000000000000001', true],
    ['1840000000000000001 == event.data.id', true],
    ['event.data.id == 1840000000000000002', false],
    ['event.data.id == event.data.same', true],
    ['event.data.id == event.data.next', false],
    ['event.data.id != event.data.next', true],
    ['event.data.id < event.data.next && event.data.next <= event.data.huge', true],
    ['event.data.id > 5 && event.data.id > event.data.n && event.data.n < event.data.id', true],
    ['event.data.id > event.data.half && event.data.id >= 1.5', true],
    ['event.data.id == event.data.n || event.data.n == event.data.id', false],
    ['event.data.id == event.data.text || event.data.id == null', false],
    ['event.data.id + 1 == event.data.next', true],
    ['event.data.next - event.data.id == 1', true],
    ['event.data.id * 2 == 3680000000000000002', true],
    ['event.data.id % 10 == 1', true],
    ['event.data.id % event.data.ten == 1', true],
    ['event.data.ten % event.data.id == 10', true],
    ['event.data.minus + event.data.n == -9007199254740988', true],
    ['event.data.id / event.data.half > 3600000000000000000', true],
    ['event.data.id in [1, 1840000000000000001]', true],
    ['event.data.id in event.data.all && event.data.next in event.data.all', false],
    ['event.data.all.exists(x, x == event.data.id)', true],
    ['event.data.all == [1, 1840000000000000001]', true],
    ['-event.data.minus == 9007199254740993', true],
    ['event.data.huge == 99999999999999999999999', true],
    ['string(event.data.id) == event.data.text', true],
    ['int(event.data.text) == event.data.id', true],
    ['double(event.data.id) == 1840000000000000000.0', true],
    ['type(event.data.id) == int && type(event.data.n) == double', true],
  ])('%s is %s', (source, value) => {
    expect(holds(source, data)).toEqual({ ok: true, value })
  })

  test.each([
    ['event.data.id', '1840000000000000001'],
    ['event.data.minus', '-9007199254740993'],
    ['event.data.huge', '99999999999999999999999'],
    ['"user-" + string(event.data.id)', 'user-1840000000000000001'],
  ])('gives the key %s to the digit: %s', (source, value) => {
    expect(key(source, data)).toEqual({ ok: true, value })
  })

  it('is a number of its own however long it is', () => {
    const of = (last: string) => key('event.data', `${'7'.repeat(5000)}${last}`)
    expect(of('1')).toMatchObject({ ok: true })
    expect(of('1')).not.toEqual(of('2'))
  })

  it('cannot be evaluated where the result leaves 64 bits, and is a priority', () => {
    expect(holds('event.data.id * event.data.next > 0', data)).toMatchObject({ ok: false })
    expect(new Expression('event.data.id', 'number').number(scopeOf(data))).toEqual({
      ok: true,
      value: 1_840_000_000_000_000_000,
    })
  })

  it('is one at every place where a number may stand', () => {
    for (const text of ['9007199254740993', ' -9007199254740993\n', '[ 9007199254740993]', '{"a":\t9007199254740993}'])
      expect(JSON.stringify(plain(jsonValue(text)))).toContain('9007199254740993')
  })
})

describe.each(['constructor', 'length', 'size', '__proto__', 'valueOf', 'toString', 'hasOwnProperty', 'prototype'])(
  'a member called %s',
  name => {
    const there = `{"n":5,"${name}":{"x":[1,2]},"inner":{"${name}":1}}`
    const absent = '{"n":5,"inner":{}}'

    it.each([
      ['event.data.n > 3', true],
      ['event.data.inner.size() == 1', true],
      [`event.data.inner.${name} == 1 && event.data.inner["${name}"] == 1`, true],
      [`event.data.${name}.x[1] == 2 && event.data["${name}"]["x"].size() == 2`, true],
      [`event.data.${name}.x.exists(x, x == 2)`, true],
      [`has(event.data.${name}) && has(event.data.${name}.x) && !has(event.data.${name}.y)`, true],
      [`"${name}" in event.data && !("nope" in event.data)`, true],
      [`event.data.all(k, k in ["n", "inner", "${name}"])`, true],
      [`event.data.inner == event.data.inner && event.data.inner != event.data.${name}`, true],
      [`event.data.inner.exists(k, event.data.inner[k] == 1)`, true],
    ])('is data like any other: %s', (source, value) => {
      expect(holds(source, there)).toEqual({ ok: true, value })
    })

    it('is absent when it is', () => {
      expect(holds(`has(event.data.${name}) || "${name}" in event.data`, absent)).toEqual({
        ok: true,
        value: false,
      })
      for (const read of [`event.data.${name}`, `event.data.inner["${name}"]`])
        expect(holds(`${read} == 1`, absent)).toEqual({ ok: false, error: `No such key: ${name}` })
    })

    it('makes a map equal to none but its like', () => {
      const pair = (a: string, b: string) => `{"a":{"${a}":{}},"b":{"${b}":{}}}`
      for (const [other, value] of [
        [name, true],
        ['kind', false],
      ] as const) {
        expect(holds('event.data.a == event.data.b', pair(name, other))).toEqual({ ok: true, value })
        expect(holds('event.data.a == event.data.b', pair(other, name))).toEqual({ ok: true, value })
      }
      expect(holds('{"kind": {}} == event.data || event.data == {"kind": {}}', `{"${name}":{}}`)).toEqual({
        ok: true,
        value: false,
      })
    })

    it('gives a key, and does not hide what is beside it from one', () => {
      expect(key(`event.data.inner.${name}`, there)).toEqual({ ok: true, value: '1' })
      expect(key('event.data.n', there)).toEqual({ ok: true, value: '5' })
    })
  },
)

// A text with `constructor` becomes Maps, another one plain objects.
it.each(['constructor', 'length'])('a member called %s is counted in the reads of an evaluation', name => {
  const wide = JSON.stringify(Array.from({ length: 60_000 }, (_, i) => i))
  const walk = `event.data.${name}.all(x, x >= 0)`
  expect(holds(walk, `{"${name}":${wide}}`)).toEqual({ ok: false, error: expect.stringContaining('too much') })
  const members = JSON.stringify(Object.fromEntries(Array.from({ length: 60_000 }, (_, i) => [`k${i}`, i])))
  for (const source of ['event.data.all(k, k != "x")', 'event.data == event.data'])
    expect(holds(source, `{"${name}":1,${members.slice(1)}`)).toMatchObject({ ok: false })
})

it('reads escaped names as what they say', () => {
  expect(holds('event.data.constructor == 1', '{"\\u0063onstructor":1}')).toEqual({ ok: true, value: true })
  expect(holds('event.data.constructor == 1', '{"c\\u006Fnstructor":1}')).toEqual({ ok: true, value: true })
})

it('is what JSON.parse makes of any text, where nothing is lost', () => {
  // The unit `binary` of fast-check takes two seconds to build.
  const unit = fc.oneof(
    fc.nat(0xffff).map(code => String.fromCharCode(code)),
    fc.constant('😀'),
  )
  const name = fc.oneof(fc.constantFrom('constructor', '__proto__', 'a', ''), fc.string({ unit }))
  const value = fc.letrec(tie => ({
    json: fc.oneof(
      { maxDepth: 3 },
      fc.constantFrom(null, true, false, -0.5, 1e300, 9007199254740991, 'constructor', '\\u0063"'),
      fc.array(tie('json'), { maxLength: 3 }),
      fc.dictionary(name, tie('json'), { maxKeys: 3 }),
    ),
  })).json
  fc.assert(
    fc.property(value, fc.constantFrom(0, 2), (json, indent) => {
      const text = JSON.stringify({ constructor: json }, null, indent)
      expect(plain(jsonValue(text))).toEqual(JSON.parse(text))
    }),
  )
})

/** The value with plain objects for Maps. */
function plain(value: unknown): unknown {
  if (typeof value === 'bigint') return String(value)
  if (Array.isArray(value)) return value.map(plain)
  if (!(value instanceof Map)) return value
  return Object.fromEntries([...value].map(([name, member]) => [name, plain(member)]))
}
