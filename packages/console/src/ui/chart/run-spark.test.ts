import { expect, test } from 'vitest'
import { sparkWords } from './run-spark.tsx'

const run = (status: string, durationMs?: number) => ({ id: `${status}${durationMs}`, status, durationMs })

test('the words of past runs count them by status, and name the longest', () => {
  expect(sparkWords([run('succeeded', 3000), run('failed', 1000), run('succeeded', 10)])).toBe(
    '3 runs: 2 succeeded, 1 failed; the longest took 3 s',
  )
  expect(sparkWords([run('queued')])).toBe('1 run: 1 queued')
})
