import { testEngine } from 'perdure/testing'
import { expect, test } from 'vitest'
import { BATCH_ROWS, CALLS_PER_MIN, enrichBatch, enrichTable, limits } from './enrichment.ts'

test('5,000 rows are enriched at the rate that the service allows', async () => {
  await using engine = await testEngine({ workflows: [enrichTable, enrichBatch], limits })
  const calls: number[] = []
  engine.mock('enrich', ({ original }) => {
    calls.push(engine.now().getTime())
    return original()
  })
  const run = await engine.start(enrichTable, { table: 't-1', rows: 5_000 })

  expect(await run.result({ within: '1h' })).toEqual({ batches: 50, stored: 5_000 })
  expect(calls).toHaveLength(5_000)
  expect(mostWithin(60_000, calls)).toBeLessThanOrEqual(CALLS_PER_MIN)
  const [child] = await run.children()
  expect(await child?.steps()).toHaveLength(BATCH_ROWS + 1)
})

/** Returns the largest number of times within a window of this length. */
function mostWithin(windowMs: number, times: readonly number[]): number {
  let first = 0
  let most = 0
  for (const [index, time] of times.entries()) {
    while (times[first]! <= time - windowMs) first++
    most = Math.max(most, index - first + 1)
  }
  return most
}
