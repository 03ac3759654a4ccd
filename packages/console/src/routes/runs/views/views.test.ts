import { expect, test } from 'vitest'
import { readViews, storedViews, storeViews, withViews } from './views.ts'

const failed = { name: 'failed today', query: 'status=failed&since=24h' }

test('views are read as they were written, and one replaces another of its name', () => {
  expect(readViews(JSON.stringify([failed]))).toEqual([failed])
  const newer = { name: 'failed today', query: 'status=failed' }
  expect(withViews([failed, { name: 'b', query: '' }], [newer])).toEqual([newer, { name: 'b', query: '' }])
})

test('a kept view that is too long leaves the others', () => {
  storeViews([failed, { name: 'long', query: 'x'.repeat(2001) }])
  expect(storedViews()).toEqual([failed])
})

test.each([
  ['{', 'This is not JSON.'],
  ['{}', 'It must be a list'],
  ['[{"name": "a"}]', 'It must be a list'],
  ['[null]', 'It must be a list'],
  [JSON.stringify([{ name: ' ', query: '' }]), 'It must be a list'],
  [JSON.stringify([{ name: 'a', query: 'x'.repeat(2001) }]), 'It must be a list'],
  // Percent signs make it longer than a view that is read again may be.
  [JSON.stringify([{ name: 'a', query: `q=${'€'.repeat(300)}` }]), 'It must be a list'],
  [JSON.stringify(Array(101).fill(failed)), 'At most 100'],
])('%.40s is refused', (text, message) => {
  expect(() => readViews(text)).toThrow(message)
})
