import { expect, test } from 'vitest'
import { completionsOf } from './completions.ts'

const known = { workflows: ['order', 'order refund', 'order'], apps: ['shop'] }

test.each([
  ['st', ['status:']],
  ['status:f', ['status:failed']],
  ['app:shop workflow:o', ['app:shop workflow:order', 'app:shop workflow:"order refund"']],
  ['since:', ['since:1h', 'since:24h', 'since:7d', 'since:30d', 'since:today', 'since:yesterday']],
  ['in', ['in:']],
  ['status:failed', []],
  ['unknown:x', []],
])('%s', (text, completions) => {
  expect(completionsOf(text, known)).toEqual(completions)
})

test('an empty box offers every qualifier', () => {
  expect(completionsOf('', known)).toContain('workflow:')
})
