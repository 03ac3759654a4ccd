import type { QueryParam } from '@perdure/protocol/operations'
import type { FastifyRequest } from 'fastify'
import { describe, expect, test } from 'vitest'
import { readQuery } from './query.ts'

/** The value of one parameter. */
function read(name: string, param: object, value: string | string[] | undefined): unknown {
  const request = { query: value === undefined ? {} : { [name]: value } } as FastifyRequest
  return readQuery(request, { [name]: { description: '', ...param } as QueryParam })[name]
}

const refusedFor = (field: string) => expect.objectContaining({ code: 'invalid_request', details: { field } })

describe('an integer', () => {
  const limit = (value?: string) => read('limit', { kind: 'integer', minimum: 1, maximum: 200, default: 30 }, value)

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

  test.each(['', ' ', '1.5', '1e2', '0x10', 'ten', '7 ', 'NaN', 'Infinity', '1_0', '٣'])('%j is refused', value => {
    expect(() => limit(value)).toThrow(refusedFor('limit'))
  })
})

describe('an enum', () => {
  test('takes the listed values only, and no inherited ones', () => {
    const dir = (value?: string) => read('dir', { kind: 'enum', values: ['asc', 'desc'] }, value)
    expect(dir('asc')).toBe('asc')
    expect(dir()).toBeUndefined()
    for (const value of ['', 'ASC', 'up', 'toString']) {
      expect(() => dir(value)).toThrow('dir must be one of asc, desc')
    }
  })
})

describe('a list of values', () => {
  test('has each once, and takes the listed ones only', () => {
    const status = (value?: string | string[]) => read('status', { kind: 'enums', values: ['queued', 'failed'] }, value)
    expect(status('failed')).toEqual(['failed'])
    expect(status('failed,queued,failed')).toEqual(['failed', 'queued'])
    expect(status(['failed', 'queued'])).toEqual(['failed', 'queued'])
    expect(status(['failed', 'queued,failed'])).toEqual(['failed', 'queued'])
    expect(status()).toBeUndefined()
    for (const value of ['', 'failed,', ',failed', 'failed, queued', 'toString', ['failed', '']]) {
      expect(() => status(value)).toThrow('status must be one of queued, failed')
    }
  })
})

describe('a list of names', () => {
  test('is bounded, and each is checked as a name', () => {
    const ids = (value: string | string[]) => read('ids', { kind: 'names', maxLength: 4, maxItems: 2 }, value)
    expect(ids('a')).toEqual(['a'])
    expect(ids(['a', 'b'])).toEqual(['a', 'b'])
    expect(() => ids(['a,b', 'c'])).toThrow('ids must not have more than 2 items')
    expect(ids('a,😀😀😀😀')).toEqual(['a', '😀😀😀😀'])
    expect(() => ids('a,b,c')).toThrow('ids must not have more than 2 items')
    for (const value of ['', 'a,', 'aaaaa', 'a,\u0000']) expect(() => ids(value)).toThrow(refusedFor('ids'))
  })
})

describe('a name', () => {
  test('is bounded in characters and checked as a name', () => {
    const app = (value: string) => read('app', { kind: 'name', maxLength: 4 }, value)
    expect(app('😀'.repeat(4))).toBe('😀'.repeat(4))
    for (const value of ['x'.repeat(5), '', ' ', 'a\u0000']) {
      expect(() => app(value)).toThrow(refusedFor('app'))
    }
  })
})

describe('a timestamp', () => {
  const since = (value?: string) => read('since', { kind: 'timestamp' }, value)

  test.each([
    ['2024-01-02T03:04:05Z', '2024-01-02T03:04:05.000Z'],
    ['2024-01-02t03:04:05.6z', '2024-01-02T03:04:05.600Z'],
    // An earlier time is never at or after it.
    ['2024-01-02T03:04:05.678001Z', '2024-01-02T03:04:05.679Z'],
    ['2024-01-02T03:04:05.678000Z', '2024-01-02T03:04:05.678Z'],
    ['2024-12-31T23:59:59.9999999999999999999999Z', '2025-01-01T00:00:00.000Z'],
    // Leap seconds.
    ['2016-12-31T23:59:60Z', '2017-01-01T00:00:00.000Z'],
    ['1990-12-31T15:59:60.5-08:00', '1991-01-01T00:00:00.500Z'],
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
    '2020-01-01T24:00:00Z',
    '2024-01-02T03:60:05Z',
    '2024-01-02T03:04:60Z',
    '2024-01-02T23:59:60Z',
    '2016-12-31T23:59:60+01:00',
    '2016-12-31T23:59:61Z',
    '2024-01-02T03:04:05.Z',
    '2024-01-02T03:04:05+24:00',
    '2024-01-02T03:04:05+02:60',
    '2024-01-02T03:04:05Zx',
    '2024-01-02T03:04:05+99:00',
  ])('%j is refused', value => {
    expect(() => since(value)).toThrow(refusedFor('since'))
  })
})

describe('a flag', () => {
  test('is on when it is 1, and off when it is 0 or absent', () => {
    const deep = (value?: string) => read('deep', { kind: 'flag' }, value)
    expect([deep('1'), deep('0'), deep()]).toEqual([true, false, false])
    for (const value of ['', 'true', '2']) expect(() => deep(value)).toThrow(refusedFor('deep'))
  })
})

test('a parameter may be given once; an unknown one any number of times', () => {
  const request = { query: { q: 'a', foo: ['1', '2'] } as object } as FastifyRequest
  expect(readQuery(request, { q: { kind: 'text', maxLength: 9, description: '' } })).toEqual({ q: 'a' })
  expect(() => read('q', { kind: 'text', maxLength: 9 }, ['a', 'b'])).toThrow(refusedFor('q'))
})
