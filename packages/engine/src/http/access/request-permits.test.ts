// RequestPermits: work waits for one in its order, and leaves when it is aborted.

import { expect, test } from 'vitest'
import { RequestPermits } from './request-permits.ts'

/** Work that ends when the test says so. */
function work() {
  let end = () => {}
  const ended = new Promise<void>(resolve => {
    end = resolve
  })
  const log = { begun: false }
  const run = () => {
    log.begun = true
    return ended
  }
  return { log, run, end: () => end() }
}

const { signal } = new AbortController()
const turns = async () => {
  for (let i = 0; i < 10; i++) await undefined
}

test('so much work is under way at once, the next begins when one ends, and a failure frees its permit', async () => {
  const permits = new RequestPermits(2)
  const [first, second, third] = [work(), work(), work()]
  const all = [first, second, third].map(each => permits.with(signal, each.run))
  await turns()
  expect([first, second, third].map(({ log }) => log.begun)).toEqual([true, true, false])
  second.end()
  await all[1]
  await turns()
  expect(third.log.begun).toBe(true)
  first.end()
  third.end()
  await Promise.all(all)
  for (let i = 0; i < 2; i++)
    await expect(permits.with(signal, () => Promise.reject(new Error('no')))).rejects.toThrow('no')
  expect(await permits.with(signal, async () => 'free')).toBe('free')
})

test('work that is aborted while it waits never begins, and beyond 100 that wait the next is refused', async () => {
  const permits = new RequestPermits(1)
  const [first, left] = [work(), work()]
  const firstDone = permits.with(signal, first.run)
  const leaving = new AbortController()
  const gone = permits.with(leaving.signal, left.run)
  const waiting = Array.from({ length: 99 }, () => permits.with(new AbortController().signal, async () => {}))
  await expect(permits.with(signal, async () => {})).rejects.toMatchObject({ code: 'overloaded' })
  leaving.abort(new Error('left'))
  await expect(gone).rejects.toThrow('left')
  first.end()
  await Promise.all([firstDone, ...waiting])
  expect(left.log.begun).toBe(false)
})
