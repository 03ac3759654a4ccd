import { expect, test } from 'vitest'
import { EndedCalls } from './ended-calls.ts'

test('a call is remembered for one generation at least, and for two at most', () => {
  const ended = new EndedCalls()
  ended.add('a', false)
  ended.rotate()
  ended.add('b', true)
  expect(['a', 'b', 'c'].map(id => ended.has(id))).toEqual([true, true, false])
  ended.rotate()
  expect(['a', 'b'].map(id => ended.has(id))).toEqual([false, true])
  ended.rotate()
  expect(ended.has('b')).toBe(false)
})

test('a call that may have run stays so, however it is added again', () => {
  const ended = new EndedCalls()
  ended.add('a', true)
  ended.add('b', false)
  ended.rotate()
  ended.add('a', false)
  expect(['a', 'b', 'c'].map(id => ended.mayHaveRun(id))).toEqual([true, false, false])
})

test('at most a hundred thousand calls are kept, the newest', () => {
  const ended = new EndedCalls()
  for (let i = 0; i < 120_000; i++) ended.add(`id${i}`, true)
  let kept = 0
  for (let i = 0; i < 120_000; i++) if (ended.has(`id${i}`)) kept++
  expect(kept).toBeLessThanOrEqual(100_000)
  expect([ended.has('id0'), ended.has('id70000'), ended.has('id119999')]).toEqual([false, true, true])
})
