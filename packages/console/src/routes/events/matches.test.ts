import { expect, test } from 'vitest'
import { matches } from './matches.ts'

const frame = {
  kind: 'event',
  id: 'evt_1',
  name: 'order/placed',
  app: 'shop',
  source: 'api',
  receivedAt: '2026-01-01T00:00:05.000Z',
}

test('an event that arrives is counted by a list whose filters it matches', () => {
  expect(matches(frame, {})).toBe(true)
  expect(matches(frame, { name: 'order/placed', app: 'shop', source: 'api', prefix: 'order/' })).toBe(true)
  expect(matches(frame, { name: 'order/paid' })).toBe(false)
  expect(matches(frame, { app: 'other' })).toBe(false)
  expect(matches({ ...frame, app: undefined }, { app: 'shop' })).toBe(false)
  expect(matches(frame, { source: 'emit' })).toBe(false)
  expect(matches(frame, { prefix: 'user/' })).toBe(false)
  expect(matches(frame, { until: '2026-01-01T00:00:05.000Z' })).toBe(false)
})

test('in a flood, an event whose name is left out is counted', () => {
  expect(matches({ kind: 'event', id: 'evt_2' }, { name: 'order/placed' })).toBe(true)
})
