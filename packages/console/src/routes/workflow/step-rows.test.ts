// The rows of the steps on the page of a workflow.

import { expect, test } from 'vitest'
import { stepRows } from './step-rows.ts'

const step = (name: string, totalMs: number, { count = 1, p95Ms = totalMs } = {}) => ({ name, count, totalMs, p95Ms })

test('a row has the length of its bar against the longest, and the numbers in words', () => {
  const rows = stepRows([
    step('charge-card', 13_100, { count: 7, p95Ms: 2230 }),
    step('reserve-stock', 1310, { count: 7, p95Ms: 331 }),
  ])
  expect(rows).toEqual([
    { name: 'charge-card', percent: 100, text: '13.1 s in 7, p95 2.23 s' },
    { name: 'reserve-stock', percent: 10, text: '1.31 s in 7, p95 331 ms' },
  ])
})

test('the ten steps that cost most are shown, in their order', () => {
  const names = stepRows(Array.from({ length: 14 }, (_, i) => step(`step-${i}`, 100 - i))).map(({ name }) => name)
  expect(names).toEqual(Array.from({ length: 10 }, (_, i) => `step-${i}`))
})

test('steps that took no time have bars without a length', () => {
  expect(stepRows([step('note', 0), step('tell', 0)])).toEqual([
    { name: 'note', percent: 0, text: '0 ms in 1, p95 0 ms' },
    { name: 'tell', percent: 0, text: '0 ms in 1, p95 0 ms' },
  ])
  expect(stepRows([])).toEqual([])
})
