import { expect, test } from 'vitest'
import { bulkFilter } from './filter.ts'

const of = (input: object) =>
  bulkFilter({ limit: 100, partial: true, sort: 'status', dir: 'asc', ...input } as Parameters<typeof bulkFilter>[0])

test('the members that a bulk job has are its filter, without the order and the page', () => {
  expect(of({ status: 'failed,cancelled', workflow: 'order', since: '2026-01-01T00:00:00.000Z' })).toEqual({
    filter: { status: ['failed', 'cancelled'], workflow: 'order', since: '2026-01-01T00:00:00.000Z' },
  })
  expect(of({ status: 'failed' })).toEqual({ filter: { status: 'failed' } })
})

test('without a member, or with one that a bulk job does not have, it says why', () => {
  expect(of({})).toEqual({ because: 'give a filter first, such as a status' })
  expect(of({ status: 'failed', q: 'A-4711', waitingFor: 'sleep', attribute: ['a:b'] })).toEqual({
    because: 'a bulk action cannot filter by text and waiting:',
  })
})

test('a bulk action is of one workflow', () => {
  expect(of({ workflow: 'sync-*' })).toEqual({ because: 'a bulk action needs the whole name of a workflow' })
})
