import { expect, test } from 'vitest'
import { attributeCounts, toggledAttribute } from './attribute-counts.ts'
import { attributeKeys, columnOf } from './attribute-keys.ts'
import type { Run } from './columns.tsx'

const run = (attributes?: Record<string, string>) => ({ attributes }) as unknown as Run

test('the URL names the columns of attributes, four at most', () => {
  const keys = ['customer', 'a,b', 'ü:x']
  expect(attributeKeys(['trigger', ...keys.map(columnOf)].join(',').split(','))).toEqual(keys)
  expect(attributeKeys(['@a', '@b', '@c', '@d', '@e'])).toHaveLength(4)
  expect(attributeKeys(['@%', 'app'])).toEqual(['%'])
})

test('values are counted, the most frequent first; one that is filtered by is among them', () => {
  const rows = [run({ plan: 'pro' }), run({ plan: 'pro' }), run({ plan: 'free' }), run(), run({ other: 'x' })]
  expect(attributeCounts(rows, 'plan', [])).toEqual([
    { filter: 'plan:pro', value: 'pro', runs: 2 },
    { filter: 'plan:free', value: 'free', runs: 1 },
  ])
  const many = Array.from({ length: 20 }, (_, i) => run({ plan: `p${i}` }))
  expect(attributeCounts(many, 'plan', ['plan:p19'])).toHaveLength(9)
})

test('a value is added to the filter, and dropped from it', () => {
  const both = toggledAttribute('plan:pro', 'customer:c-1')
  expect(both).toBe('plan:pro\ncustomer:c-1')
  expect(toggledAttribute(both, 'plan:pro')).toBe('customer:c-1')
  expect(toggledAttribute('plan:pro', 'plan:pro')).toBeUndefined()
})
