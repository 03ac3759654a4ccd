import { expect, test } from 'vitest'
import { EndedCalls } from './ended-calls.ts'

test('a call is past for a turn at least, and for two at most', () => {
  const past = new EndedCalls()
  past.add('a', false)
  past.turn()
  past.add('b', true)
  expect(['a', 'b', 'c'].map(id => past.has(id))).toEqual([true, true, false])
  past.turn()
  expect(['a', 'b'].map(id => past.has(id))).toEqual([false, true])
  past.turn()
  expect(past.has('b')).toBe(false)
})

test('a call that was done stays so, whatever is said of it later', () => {
  const past = new EndedCalls()
  past.add('a', true)
  past.add('b', false)
  past.turn()
  past.add('a', false)
  expect(['a', 'b', 'c'].map(id => past.isDone(id))).toEqual([true, false, false])
})

test('no more than a hundred thousand are kept, the newest', () => {
  const past = new EndedCalls()
  for (let i = 0; i < 120_000; i++) past.add(`id${i}`, true)
  let kept = 0
  for (let i = 0; i < 120_000; i++) if (past.has(`id${i}`)) kept++
  expect(kept).toBeLessThanOrEqual(100_000)
  expect([past.has('id0'), past.has('id70000'), past.has('id119999')]).toEqual([false, true, true])
})
