import { expect, test } from 'vitest'
import { Sampling } from './sampling.ts'

const quick = { topic: 'runs', isTooMuch: false, tookMs: 50 }
const slow = { ...quick, tookMs: 51 }

test('two slow flushes in a row begin it, one alone does not', () => {
  const sampling = new Sampling()
  for (const [i, flush] of [slow, quick, slow, quick].entries()) sampling.noteFlush({ ...flush, now: i })
  expect(sampling.isOn(4)).toBe(false)
  sampling.noteFlush({ ...slow, now: 4 })
  // A quick flush of another topic in between does not affect this one.
  sampling.noteFlush({ ...quick, topic: 'events', now: 4 })
  sampling.noteFlush({ ...slow, now: 5 })
  expect(sampling.isOn(6)).toBe(true)
  expect(sampling.leftMs(6)).toBe(4999)
  expect(sampling.isOn(5005)).toBe(false)
  expect(sampling.leftMs(5005)).toBe(0)
})

test('too many frames begin it at once, and each flush of them prolongs it', () => {
  const sampling = new Sampling()
  for (const now of [0, 4000]) sampling.noteFlush({ ...quick, isTooMuch: true, now })
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
