import { expect, test } from 'vitest'
import { movedSpan, spanAt, spanBounds } from './span.ts'

test('a place on the chart is in one of its spans', () => {
  expect([-0.1, 0, 0.49, 0.5, 0.999, 1, 1.2].map(share => spanAt(share, 4))).toEqual([0, 0, 1, 2, 3, 3, 3])
})

test('arrows move within the chart; with Shift they extend the choice, to both sides', () => {
  const press = (span: { anchor: number; head: number }, key: string, shiftKey = false) =>
    movedSpan(span, { key, shiftKey }, 5)
  expect(press({ anchor: 2, head: 2 }, 'ArrowRight')).toEqual({ anchor: 3, head: 3 })
  expect(press({ anchor: 4, head: 4 }, 'ArrowRight')).toEqual({ anchor: 4, head: 4 })
  expect(press({ anchor: 2, head: 1 }, 'ArrowLeft', true)).toEqual({ anchor: 2, head: 0 })
  expect(press({ anchor: 2, head: 1 }, 'End', true)).toEqual({ anchor: 2, head: 4 })
  expect(press({ anchor: 2, head: 4 }, 'Home')).toEqual({ anchor: 0, head: 0 })
  expect(press({ anchor: 2, head: 4 }, 'x')).toBeUndefined()
  expect(spanBounds({ anchor: 3, head: 1 })).toEqual([1, 3])
})
