import { expect, test } from 'vitest'
import { countWords } from './count-spark.tsx'

test('the words of counts over time sum them, and say when there were most', () => {
  expect(countWords([0, 2, 0, 5, 1], 'failures')).toBe('8 failures in 3 of 5 intervals, most in interval 4')
  expect(countWords([0, 0], 'failures')).toBe('0 failures in 0 of 2 intervals')
})
