// The stretches of passes above the rows of a timeline.

import type { PassRecord } from '@perdure/protocol'
import { expect, test } from 'vitest'
import { spansOfRecords } from './passes.ts'

const ORIGIN = '2026-11-24T06:00:00.000Z'
const at = (ms: number) => new Date(Date.parse(ORIGIN) + ms).toISOString()
const pass = (fields: Partial<PassRecord>): PassRecord => ({
  pass: 1,
  runner: 'shop-1',
  sentAt: at(10),
  outcome: 'steps',
  attempt: 1,
  steps: [],
  ...fields,
})
const spans = (...passes: PassRecord[]) => spansOfRecords(passes, Date.parse(ORIGIN))

test('a pass lasts from when it was sent to when it was answered, or until now while it is under way', () => {
  expect(spans(pass({ answeredAt: at(40) }), pass({ sentAt: at(50), outcome: 'running' }))).toEqual([
    { fromMs: 10, toMs: 40, runner: 'shop-1', hasFailed: false },
    { fromMs: 50, runner: 'shop-1', hasFailed: false },
  ])
})

test('a pass that failed and has no answer is over', () => {
  expect(spans(pass({ outcome: 'none' }))).toEqual([{ fromMs: 10, toMs: 10, runner: 'shop-1', hasFailed: false }])
  expect(spans(pass({ outcome: 'failed', answeredAt: at(30) }))).toEqual([
    { fromMs: 10, toMs: 30, runner: 'shop-1', hasFailed: true },
  ])
})
