import { describe, expect, test } from 'vitest'
import { hintFor, nearestName, quoteName } from './unknown-name.ts'

const KNOWN = [
  'app',
  'status',
  'runType',
  'eventId',
  'q',
  'since',
  'limit',
  'cursor',
  'retry',
  'timeouts',
  'concurrency',
]

describe('the nearest name', () => {
  test.each([
    ['limt', 'limit'],
    ['limits', 'limit'],
    ['statsu', 'status'],
    ['STATUS', 'status'],
    ['run_type', 'runType'],
    ['runtype', 'runType'],
    ['event-id', 'eventId'],
    ['retries', 'retry'],
    ['timeout', 'timeouts'],
    ['concurrencyLimit', 'concurrency'],
    ['concurency', 'concurrency'],
    ['ap', 'app'],
  ])('of %s is %s', (name, nearest) => {
    expect(nearestName(name, KNOWN)).toBe(nearest)
  })

  test.each(['colour', 'x', 'constructor', '__proto__', ''])('of %j does not exist', name => {
    expect(nearestName(name, ['status', 'since', 'eventId'])).toBeUndefined()
  })

  test('of a hostile length is found in bounded time', () => {
    expect(nearestName('xyz'.repeat(100_000), KNOWN)).toBeUndefined()
  })
})

describe('a hint', () => {
  test('names the nearest, else those that are known', () => {
    expect(hintFor('limt', KNOWN)).toBe('; did you mean "limit"?')
    expect(hintFor('colour', ['app', 'since'])).toBe('; known are app, since')
    expect(hintFor('colour', [])).toBe('')
    const many = Array.from({ length: 30 }, (_, i) => `${i}${i}${i}${i}`)
    expect(hintFor('colour', many)).toMatch(/, 19191919, …$/)
  })
})

test('a quoted name is cut off and has no control characters', () => {
  expect(quoteName('a"\u0007b')).toBe('"a\\"\\u0007b"')
  expect(quoteName('😀'.repeat(65))).toBe(`"${'😀'.repeat(64)}…"`)
  expect(quoteName('\ud800')).toBe('"\\ud800"')
})
