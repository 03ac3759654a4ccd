import { expect, test } from 'vitest'
import { countedUntil } from './counted.ts'

test('an end is that of its five minutes; one that is none stays', () => {
  expect(countedUntil('2026-05-01T12:03:00Z')).toBe('2026-05-01T12:05:00.000Z')
  expect(countedUntil('2026-05-01T12:05:00Z')).toBe('2026-05-01T12:05:00.000Z')
  expect([countedUntil(undefined), countedUntil('soon')]).toEqual([undefined, 'soon'])
})
