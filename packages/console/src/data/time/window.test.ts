import { expect, it } from 'vitest'
import { sinceParam, startOf } from './window.ts'

it('a date without a time begins at local midnight, as times are shown', () => {
  expect(startOf('2026-11-20', 0)).toBe(new Date(2026, 10, 20).getTime())
  expect(sinceParam('2026-11-20', 0)).toBe(new Date(2026, 10, 20).toISOString())
  expect(startOf('2026-11-20 14:05', 0)).toBe(new Date(2026, 10, 20, 14, 5).getTime())
  expect(startOf('2026-11-20T14:05:00Z', 0)).toBe(Date.UTC(2026, 10, 20, 14, 5))
  expect(startOf('tomorrow', 0)).toBeUndefined()
})
