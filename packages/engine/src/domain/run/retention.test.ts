import { describe, expect, test } from 'vitest'
import { agedRows, parseRetention } from './retention.ts'

const DAY = 86_400_000
const NOW = 1_764_000_000_000

describe('a retention', () => {
  test('is one duration for all ended runs', () => {
    expect(parseRetention('30d')).toEqual({ succeeded: 30 * DAY, failed: 30 * DAY, cancelled: 30 * DAY })
    expect(parseRetention('5000')).toEqual({ succeeded: 5000, failed: 5000, cancelled: 5000 })
  })

  test('is one for each status, and a status left out has none', () => {
    expect(parseRetention('succeeded=7d, failed = 90d')).toEqual({ succeeded: 7 * DAY, failed: 90 * DAY })
  })

  test.each([
    '',
    '0',
    '-1d',
    'soon',
    'waiting=7d',
    'succeeded',
    'succeeded=7d,',
    'succeeded=7d,succeeded=8d',
    'succeeded=7d=8d',
    '200000d',
  ])('is not %j', text => expect(parseRetention(text)).toBeUndefined())
})

describe('what may go', () => {
  test('without a retention is what is over by itself', () => {
    expect(agedRows({}, NOW)).toEqual([
      { rows: 'dedupes', before: NOW },
      { rows: 'claims', before: NOW },
      { rows: 'runs.ofWorkflow', before: NOW },
      { rows: 'rollups.5m', before: NOW - 8 * DAY },
      { rows: 'rollups.1h', before: NOW - 400 * DAY },
    ])
  })

  test('goes by the longest retention where it is no run, and events stay a day at least', () => {
    const aged = new Map(
      agedRows({ retention: { succeeded: 1000, failed: 5000 } }, NOW).map(each => [each.rows, each.before]),
    )
    expect(Object.fromEntries(aged)).toEqual({
      dedupes: NOW,
      claims: NOW,
      'runs.ofWorkflow': NOW,
      'rollups.5m': NOW - 8 * DAY,
      'rollups.1h': NOW - 400 * DAY,
      'runs.succeeded': NOW - 1000,
      'runs.failed': NOW - 5000,
      deliveries: NOW - 5000,
      actions: NOW - 5000,
      events: NOW - DAY,
    })
    expect(agedRows({ retention: { failed: 2 * DAY } }, NOW)).toContainEqual({ rows: 'events', before: NOW - 2 * DAY })
  })
})
