import { expect, test } from 'vitest'
import { Sampling } from './sampling.ts'

const quick = { isTooMuch: false, tookMs: 50 }
const slow = { isTooMuch: false, tookMs: 51 }

test('two slow flushes in a row begin it, one alone does not', () => {
  const sampling = new Sampling()
  for (const [i, flush] of [slow, quick, slow, quick].entries()) sampling.noteFlush({ ...flush, now: i })
  expect(sampling.isOn(4)).toBe(false)
  for (const now of [4, 5]) sampling.noteFlush({ ...slow, now })
  expect(sampling.isOn(6)).toBe(true)
  expect(sampling.leftMs(6)).toBe(4999)
  expect(sampling.isOn(5005)).toBe(false)
  expect(sampling.leftMs(5005)).toBe(0)
})

test('too many frames begin it at once, and each flush of them prolongs it', () => {
  const sampling = new Sampling()
  for (const now of [0, 4000]) sampling.noteFlush({ isTooMuch: true, tookMs: 1, now })
  expect(sampling.isOn(8999)).toBe(true)
  sampling.noteFlush({ ...quick, now: 8999 })
  expect(sampling.isOn(9000)).toBe(false)
})

test('rows are read again after it only if one was shown by its status alone', () => {
  const sampling = new Sampling()
  expect(sampling.end()).toBe(false)
  sampling.missed()
  expect(sampling.end()).toBe(true)
  expect(sampling.end()).toBe(false)
})
