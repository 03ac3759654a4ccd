import { expect, test } from 'vitest'
import { tally } from './tally.ts'

test('values are counted where they differ, the most frequent first', () => {
  expect(tally(['node', undefined, 'node', ''])).toBe('node')
  expect(tally(['bun', 'node', 'node', 'deno'])).toBe('node (2), bun (1), deno (1)')
  expect(tally([undefined])).toBe('')
})
