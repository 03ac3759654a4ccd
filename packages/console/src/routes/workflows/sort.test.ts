import { expect, test } from 'vitest'
import { nextOrder, orderOf, type Sorted, type SortKey, sorted } from './sort.ts'
import type { Stats } from './stats.ts'

const row = (name: string, stats?: Partial<Stats>): Sorted => ({ app: 'shop', name, stats: stats as Stats })
const rows = [
  row('b', { started: 3, succeeded: 1, failed: 1, p95Ms: 20 }),
  row('a', { started: 10, succeeded: 0, failed: 0 }),
  row('c'),
]
const names = (sort: string, dir?: string) => sorted(rows, orderOf(sort, dir)).map(({ name }) => name)

test('rows are in the order of the column, those without a value last in both directions', () => {
  expect(names('runs')).toEqual(['a', 'b', 'c'])
  expect(names('runs', 'asc')).toEqual(['b', 'a', 'c'])
  expect(names('p95')).toEqual(['b', 'a', 'c'])
  expect(names('p95', 'asc')).toEqual(['b', 'a', 'c'])
  expect(names('success')).toEqual(['b', 'a', 'c'])
  expect(names('name')).toEqual(['a', 'b', 'c'])
  expect(names('name', 'desc')).toEqual(['c', 'b', 'a'])
  // An unknown order leaves the list unchanged.
  expect([names('toString'), names('trend')]).toEqual([
    ['b', 'a', 'c'],
    ['b', 'a', 'c'],
  ])
})

test('a column sorts in its first direction, then in the other, then not', () => {
  const press = (key: SortKey, times: number) => {
    let order = orderOf(undefined, undefined)
    for (let i = 0; i < times; i++) order = nextOrder(order, key)
    return order?.dir
  }
  expect([1, 2, 3].map(times => press('runs', times))).toEqual(['desc', 'asc', undefined])
  expect([1, 2, 3].map(times => press('name', times))).toEqual(['asc', 'desc', undefined])
  expect(nextOrder({ key: 'name', dir: 'desc' }, 'runs')).toEqual({ key: 'runs', dir: 'desc' })
})
