// Stored counts are added up with the same result as parsing each object, and long answers are read in parts.

import { expect, test } from 'vitest'
import { emptyTally } from '../../../domain/view/run-tally.ts'
import type { Row } from '../description/values.ts'
import { addSummedRows, storedCounts } from './summed-rows.ts'

test('counts of objects that follow each other are added up by class', () => {
  const stored = [{}, { 0: 1 }, { 12: 3, 212: 40 }, { 12: 1_000_000 }, {}]
  const text = stored.map(each => JSON.stringify(each)).join('')
  expect(storedCounts(text)).toEqual(
    new Map([
      [0, 1],
      [12, 1_000_003],
      [212, 40],
    ]),
  )
  expect(storedCounts('')).toEqual(new Map())
})

test('rows of a group are added up, and the event loop turns between long ones', async () => {
  const long = '{"7":1}'.repeat(100_000)
  const rows: Row[] = Array.from({ length: 4 }, () => [
    'shop',
    1,
    1,
    0,
    0,
    2,
    1,
    null,
    1,
    null,
    3,
    5,
    2,
    long,
    '{"3":1}',
  ])
  const tally = emptyTally()
  let turns = 0
  const count = () => {
    turns++
    timer = setImmediate(count)
  }
  let timer = setImmediate(count)
  await addSummedRows(rows, 1, () => tally)
  clearImmediate(timer)
  expect(turns).toBeGreaterThan(1)
  expect(tally).toEqual({
    ...{ started: 4, succeeded: 4, failed: 0, cancelled: 0 },
    durations: { sumMs: 20, counts: new Map([[7, 400_000]]) },
    queueTimes: { sumMs: 8, counts: new Map([[3, 4]]) },
    onFailure: { succeeded: 8, failed: 4, cancelled: 0 },
    cleanup: { succeeded: 4, failed: 0, cancelled: 12 },
  })
})

test('rows without times add counts only', async () => {
  const tally = emptyTally()
  await addSummedRows([['shop', 4, 1, 2, 1, null, null, null, null, null, null]], 1, () => tally)
  expect(tally).toEqual({ ...emptyTally(), started: 4, succeeded: 1, failed: 2, cancelled: 1 })
})
