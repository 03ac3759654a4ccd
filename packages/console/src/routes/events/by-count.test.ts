import { expect, test } from 'vitest'
import { byCount } from './by-count.ts'

test('the names with the most events come first, and those without any are left out', () => {
  const names = [
    { name: 'a', count: 3 },
    { name: 'b', count: 0 },
    { name: 'c', count: '1000+' },
    { name: 'd', count: 1000 },
    { name: 'e' },
  ]
  expect(byCount(names).map(({ name }) => name)).toEqual(['c', 'd', 'a'])
})
