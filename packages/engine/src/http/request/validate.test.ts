import Type from 'typebox'
import { describe, expect, test } from 'vitest'
import { EngineError } from '../../domain/model/errors.ts'
import { checkCharacters, checkName, validator } from './validate.ts'

const Bound = Type.Object({ limit: Type.Integer({ minimum: 1 }), key: Type.Optional(Type.String()) })

const check = validator(
  Type.Object({
    name: Type.String({ minLength: 1, maxLength: 4 }),
    count: Type.Optional(Type.Integer({ minimum: 1, maximum: 9 })),
    wait: Type.Optional(Type.Union([Type.Number({ minimum: 0 }), Type.String()])),
    flag: Type.Optional(Type.Boolean()),
    mode: Type.Optional(Type.Enum(['last', 'first'])),
    kinds: Type.Optional(Type.Array(Type.Enum(['a', 'b']))),
    at: Type.Optional(Type.String({ format: 'date-time' })),
    note: Type.Optional(Type.Union([Type.String({ maxLength: 4 }), Type.Null()])),
    bounds: Type.Optional(Type.Union([Bound, Type.Array(Bound, { maxItems: 3 })])),
    parts: Type.Optional(
      Type.Array(Type.Object({ retry: Type.Optional(Type.Object({ max: Type.Integer() })) }), {
        maxItems: 3,
      }),
    ),
  }),
)

function messageOf(action: () => unknown): string {
  try {
    action()
  } catch (error) {
    if (error instanceof EngineError && error.code === 'invalid_request') return error.message
    throw error
  }
  return 'accepted'
}

describe('validator', () => {
  test('returns a value that fits unchanged', () => {
    const value = { name: 'n', count: 3, wait: '3s', flag: true, parts: [{ retry: { max: 1 } }], more: 1 }
    expect(check(value)).toBe(value)
  })

  test.each<[unknown, string]>([
    [undefined, 'name is required'],
    [null, 'body must be object'],
    [[], 'body must be object'],
    ['name', 'body must be object'],
    [{}, 'name is required'],
    [{ name: null }, 'name must be string'],
    [{ name: 1 }, 'name must be string'],
    [{ name: '' }, 'name must not have fewer than 1 characters'],
    [{ name: 'abcde' }, 'name must not have more than 4 characters'],
    [{ name: 'n', count: 0 }, 'count must be >= 1'],
    [{ name: 'n', count: 10 }, 'count must be <= 9'],
    [{ name: 'n', count: 1.5 }, 'count must be integer'],
    [{ name: 'n', wait: true }, 'wait must be number or string'],
    [{ name: 'n', wait: -1 }, 'wait must be >= 0'],
    [{ name: 'n', mode: 'all' }, 'mode must be one of last, first'],
    [{ name: 'n', mode: 7 }, 'mode must be one of last, first'],
    [{ name: 'n', kinds: ['a', 'c'] }, 'kinds[1] must be one of a, b'],
    [{ name: 'n', at: 'soon' }, 'at must be an RFC 3339 timestamp'],
    [{ name: 'n', note: 'abcde' }, 'note must not have more than 4 characters'],
    [{ name: 'n', note: 1 }, 'note must be string or null'],
    [{ name: 'n', bounds: { limit: 0 } }, 'bounds.limit must be >= 1'],
    [{ name: 'n', bounds: { limit: 1, key: 7 } }, 'bounds.key must be string'],
    [{ name: 'n', bounds: {} }, 'bounds.limit is required'],
    [{ name: 'n', bounds: [{ limit: 1 }, { limit: 'x' }] }, 'bounds[1].limit must be integer'],
    [{ name: 'n', bounds: Array(4).fill({ limit: 1 }) }, 'bounds must not have more than 3 items'],
    [{ name: 'n', bounds: 'x' }, 'bounds must be object or array'],
    [{ name: 'n', flag: null }, 'flag must be boolean'],
    [{ name: 'n', parts: {} }, 'parts must be array'],
    [{ name: 'n', parts: [{}, 1] }, 'parts[1] must be object'],
    [{ name: 'n', parts: [{}, { retry: { max: 'x' } }] }, 'parts[1].retry.max must be integer'],
    [{ name: 'n', parts: [{ retry: {} }] }, 'parts[0].retry.max is required'],
    [{ name: 'n', parts: [{}, {}, {}, {}] }, 'parts must not have more than 3 items'],
  ])('%j: %s', (value, message) => {
    expect(messageOf(() => check(value))).toBe(message)
  })

  test('characters are counted, not code units', () => {
    expect(messageOf(() => check({ name: '😀'.repeat(4) }))).toBe('accepted')
    expect(messageOf(() => check({ name: '😀'.repeat(5) }))).toContain('more than 4 characters')
  })

  test('names the first required field of a missing body', () => {
    const optional = validator(Type.Object({ app: Type.Optional(Type.String()) }))
    expect(messageOf(() => optional(undefined))).toBe('body is required')
    expect(messageOf(() => optional(null))).toBe('body must be object')
  })

  test('names the field in the details too', () => {
    expect(() => check({ name: 1 })).toThrow(expect.objectContaining({ details: { field: 'name' } }))
  })

  test('inherited members are no members', () => {
    expect(messageOf(() => check(JSON.parse('{"__proto__":{"name":"n"}}')))).toBe(
      'name is required; "__proto__" is not known here',
    )
  })

  test('a hostile list is refused without a visit to every element', () => {
    // Two million faults: listing them all took 1.5 s.
    let looks = 0
    const get = (list: number[], key: string): unknown => {
      looks++
      return Reflect.get(list, key)
    }
    const parts = new Proxy(new Array(2_000_000).fill(1), { get: get as ProxyHandler<number[]>['get'] })
    expect(messageOf(() => check({ name: 'n', parts }))).toBe('parts must not have more than 3 items')
    expect(looks).toBeLessThan(20)
  })
})

describe('checkName', () => {
  test.each([['n'], ['order/created'], ['Bestellung früh 😀'], [' padded '], [undefined]])('takes %j', name => {
    expect(messageOf(() => checkName('name', name))).toBe('accepted')
  })

  test.each([[''], [' '], ['\u00a0\u3000']])('refuses %j as blank', name => {
    expect(messageOf(() => checkName('name', name))).toBe('name must not be blank')
  })

  test.each([['a\u0000'], ['a\nb'], ['\t'], ['\u007f'], ['\u0085'], ['\ud800'], ['\udc00x']])(
    'refuses %j for its characters',
    name => {
      const expected = 'name must not have control characters or lone surrogates'
      expect(messageOf(() => checkName('name', name))).toBe(expected)
      expect(messageOf(() => checkCharacters('name', name))).toBe(expected)
    },
  )

  test('only names must not be blank', () => {
    expect(messageOf(() => checkCharacters('region', ''))).toBe('accepted')
  })
})
