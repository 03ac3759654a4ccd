// Which matches are accepted: strict paths, bounded numbers and lengths.

import { describe, expect, it } from 'vitest'
import {
  type EventMatch,
  MATCH_PATH_CHARS_MAX,
  MATCH_PATHS_MAX,
  MATCH_TEXT_CHARS_MAX,
  matchFault,
  matchText,
} from './event-match.ts'

const paths = (count: number) => Array.from({ length: count }, (_, i) => `data.a${i}`)

describe('a match', () => {
  it.each([
    'data',
    'data.orderId',
    'data.order-id.$ref.a_1.0',
    `data.${'a'.repeat(MATCH_PATH_CHARS_MAX - 5)}`,
    ['data.a', 'data.b'],
    paths(MATCH_PATHS_MAX),
    { 'data.a': 1, 'data.b': '1', 'data.c': true, 'data.d': null, 'data.e': 0.5 },
    { 'data.a': Number.MAX_SAFE_INTEGER },
    { 'data.a': 'x'.repeat(MATCH_TEXT_CHARS_MAX) },
  ])('may be %j', match => {
    expect(matchFault(match)).toBeUndefined()
  })

  it.each([
    [7, 'must be a path'],
    [null, 'must be a path'],
    ['', 'must be "data" and names'],
    ['id', 'must be "data" and names'],
    ['event.data.id', 'must be "data" and names'],
    ['data.', 'must be "data" and names'],
    ['data..a', 'must be "data" and names'],
    ['data.a\n', 'must be "data" and names'],
    ['data.a == 1', 'must be "data" and names'],
    ['data["a"]', 'must be "data" and names'],
    [`data.${'a'.repeat(MATCH_PATH_CHARS_MAX - 4)}`, 'at most 256 characters'],
    [`data${'.a'.repeat(16)}`, 'at most 16 members'],
    [[], 'at least one path'],
    [{}, 'at least one path'],
    [paths(MATCH_PATHS_MAX + 1), 'at most 10 paths'],
    [[['data.a']], 'must be a path'],
    [{ 'a.b': 1 }, 'must be "data" and names'],
    [{ 'data.a': {} }, 'texts, numbers, booleans or null, at "data.a"'],
    [{ 'data.a': [1] }, 'texts, numbers, booleans or null, at "data.a"'],
    [{ 'data.a': undefined }, 'texts, numbers, booleans or null, at "data.a"'],
    [{ 'data.a': Number.NaN }, 'numbers that are exact'],
    [{ 'data.a': 2 ** 53 }, 'numbers that are exact'],
    [{ 'data.a': 'x'.repeat(MATCH_TEXT_CHARS_MAX + 1) }, 'texts of at most 1024 characters, at "data.a"'],
  ])('may not be %j', (match, fault) => {
    expect(matchFault(match)).toContain(fault)
  })

  it('of a trigger has values: there is no other event to compare with', () => {
    expect(matchFault({ 'data.a': 1 }, { onlyValues: true })).toBeUndefined()
    for (const match of ['data.a', ['data.a'], null])
      expect(matchFault(match, { onlyValues: true })).toContain('object')
  })
})

it.each([
  ['data.id', 'data.id'],
  [['data.id', 'data.line'], 'data.id, data.line'],
  [{ 'data.plan': 'pro', 'data.seats': 3, 'data.end': null }, 'data.plan = "pro", data.seats = 3, data.end = null'],
])('the match %j reads %s', (match, text) => {
  expect(matchText(match as EventMatch)).toBe(text)
})
