import { describe, expect, test } from 'vitest'
import { enumParam, integerParam, nameParam, refuseUnsupported, timestampParam } from './query.ts'

const refusedFor = (field: string) => expect.objectContaining({ code: 'invalid_request', details: { field } })

describe('integerParam', () => {
  const limit = (value?: string) =>
    integerParam({ limit: value }, 'limit', { min: 1, max: 200, fallback: 30 })

  test.each([
    [undefined, 30],
    ['7', 7],
    ['007', 7],
    ['0', 1],
    ['-5', 1],
    ['201', 200],
    ['99999999999999999999999', 200],
  ])('%s is %i', (value, expected) => {
    expect(limit(value)).toBe(expected)
  })

  test.each(['', ' ', '1.5', '1e2', '0x10', 'ten', '7 ', 'NaN', 'Infinity', '1_0', '٣'])(
    '%j is refused',
    value => {
      expect(() => limit(value)).toThrow(refusedFor('limit'))
    },
  )
})

describe('enumParam', () => {
  test('takes the listed values only, and no inherited ones', () => {
    expect(enumParam({ dir: 'asc' }, 'dir', ['asc', 'desc'])).toBe('asc')
    expect(enumParam({}, 'dir', ['asc', 'desc'])).toBeUndefined()
    for (const value of ['', 'ASC', 'up', 'toString']) {
      expect(() => enumParam({ dir: value }, 'dir', ['asc', 'desc'])).toThrow('dir must be one of asc, desc')
    }
  })
})

describe('nameParam', () => {
  test('is bounded in characters and holds what a name may hold', () => {
    expect(nameParam({ app: '😀'.repeat(4) }, 'app', 4)).toBe('😀'.repeat(4))
    for (const value of ['x'.repeat(5), '', ' ', 'a\u0000']) {
      expect(() => nameParam({ app: value }, 'app', 4)).toThrow(refusedFor('app'))
    }
  })
})

describe('timestampParam', () => {
  const since = (value?: string) => timestampParam({ since: value }, 'since')

  test.each([
    ['2024-01-02T03:04:05Z', '2024-01-02T03:04:05.000Z'],
    ['2024-01-02t03:04:05.6z', '2024-01-02T03:04:05.600Z'],
    ['2024-01-02T03:04:05.678999Z', '2024-01-02T03:04:05.678Z'],
    ['2024-01-02T03:04:05+02:00', '2024-01-02T01:04:05.000Z'],
    ['2024-01-02T03:04:05 02:00', '2024-01-02T01:04:05.000Z'],
    ['2024-01-02T03:04:05-02:30', '2024-01-02T05:34:05.000Z'],
    ['2024-02-29T23:59:59.999Z', '2024-02-29T23:59:59.999Z'],
  ])('%s', (value, expected) => {
    expect(since(value)).toBe(Date.parse(expected))
  })

  test('may be absent', () => {
    expect(since()).toBeUndefined()
  })

  test.each([
    '',
    'yesterday',
    '1704164645000',
    '2024-01-02',
    '2024-01-02T03:04:05',
    '2024-01-02T03:04Z',
    '2024-13-02T03:04:05Z',
    '2023-02-29T03:04:05Z',
    '2024-02-30T03:04:05Z',
    '2024-01-02T25:04:05Z',
    '2024-01-02T03:04:05Zx',
    '2024-01-02T03:04:05+99:00',
  ])('%j is refused', value => {
    expect(() => since(value)).toThrow(refusedFor('since'))
  })
})

describe('refuseUnsupported', () => {
  test('names the first parameter that is given', () => {
    expect(() => refuseUnsupported({ a: '1', q: '' }, ['q', 'dir'])).toThrow('q is not supported yet')
    expect(refuseUnsupported({ a: '1' }, ['q', 'dir'])).toBeUndefined()
  })
})
