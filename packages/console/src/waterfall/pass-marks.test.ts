// The marks of passes: every pass is in one mark, and there are no more marks than fit on the track.

import { expect, test } from 'vitest'
import { plainAxis } from './idle.ts'
import { passMarks } from './pass-marks.ts'
import type { PassSpan } from './passes.ts'
import type { Span } from './scale.ts'

const pass = (fromMs: number, toMs?: number, more: Partial<PassSpan> = {}): PassSpan => ({
  fromMs,
  ...(toMs === undefined ? {} : { toMs }),
  runner: 'shop-1',
  hasFailed: false,
  ...more,
})
const marks = (passes: readonly PassSpan[], marksMax: number, span: Span = { fromMs: 0, toMs: 1000 }) =>
  passMarks(passes, { axis: plainAxis(1000), span, endMs: 1000, marksMax })

test('ten thousand passes are as many marks as there is room for, and each pass is in one', () => {
  const all = marks(
    Array.from({ length: 10_000 }, (_, i) => pass(i / 10, i / 10 + 0.05)),
    200,
  )
  expect(all).toHaveLength(200)
  expect(all.map(({ first }) => first)).toEqual([1, ...all.slice(0, -1).map(({ last }) => last + 1)])
  expect(all.at(-1)?.last).toBe(10_000)
})

test('passes that begin apart are marks of their own, however long they are', () => {
  expect(marks([pass(0, 500), pass(500, 510), pass(510)], 100).map(({ first, toMs }) => [first, toMs])).toEqual([
    [1, 500],
    [2, 510],
    [3, undefined],
  ])
})

test('a mark lasts to the latest answer, counts what failed, and names a runner that all have', () => {
  const near = [pass(10, 90), pass(11, 12, { hasFailed: true }), pass(12, 13)]
  expect(marks(near, 10)).toEqual([{ first: 1, last: 3, failed: 1, fromMs: 10, toMs: 90, runner: 'shop-1' }])
  const [mark] = marks([...near, pass(13, undefined, { runner: 'shop-2' })], 10)
  expect(mark).toEqual({ first: 1, last: 4, failed: 1, fromMs: 10, runner: undefined })
})

test('passes outside of the span have no mark, and those that reach into it have one', () => {
  const span = { fromMs: 400, toMs: 500 }
  expect(marks([pass(0, 100), pass(300, 450), pass(410, 420), pass(600)], 10, span).map(({ first }) => first)).toEqual([
    2, 3,
  ])
})
