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

test('texts, waits and patterns of workflows are members too', () => {
  const input = { workflow: 'sync-*', q: 'A-4711', deep: true, waitingFor: 'sleep', attribute: ['a:b'] }
  expect(of(input)).toEqual({ filter: input })
  expect(of({ app: 'shop', q: '', deep: true })).toEqual({ filter: { app: 'shop' } })
})

test('without a member, it says why', () => {
  for (const input of [{}, { deep: true }])
    expect(of(input)).toEqual({ because: 'add a filter first, such as a status' })
})
