import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Renewal } from './renewal.ts'

const AFTER_MS = 1000
const READ_MS = 3000

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** A renewal whose reads take `READ_MS`, with the times at which they began. */
function opened() {
  const from = performance.now()
  const began: number[] = []
  const state = { mayNotRead: false, fails: false }
  const renewal = new Renewal({
    read: async () => {
      began.push(performance.now() - from)
      const { fails } = state
      await new Promise(resolve => setTimeout(resolve, READ_MS))
      if (fails) throw new Error('refused')
    },
    mayNotRead: () => state.mayNotRead,
  })
  return { renewal, began, state }
}

test('many changes of a moment are read once', async () => {
  const { renewal, began } = opened()
  for (let i = 0; i < 5; i++) {
    renewal.wake(AFTER_MS)
    await vi.advanceTimersByTimeAsync(100)
  }
  await vi.advanceTimersByTimeAsync(60_000)
  expect(began).toEqual([1000])
})

test('a gap during a read is followed by one more read', async () => {
  const { renewal, began } = opened()
  renewal.wake(AFTER_MS)
  await vi.advanceTimersByTimeAsync(2000)
  const caughtUp = vi.fn()
  for (let i = 0; i < 2; i++) void renewal.catchUp(performance.now()).then(caughtUp)
  await vi.advanceTimersByTimeAsync(2000 + READ_MS - 1)
  expect(caughtUp).not.toHaveBeenCalled()
  await vi.advanceTimersByTimeAsync(60_000)
  expect(caughtUp).toHaveBeenCalledTimes(2)
  expect(began).toEqual([1000, 4000])
})

test('a gap before the newest read reads nothing more, and one whose read fails is told so', async () => {
  const { renewal, began, state } = opened()
  const openedAt = performance.now()
  const read = renewal.catchUp(openedAt)
  await vi.advanceTimersByTimeAsync(READ_MS)
  await read
  await renewal.catchUp(openedAt)
  expect(began).toEqual([0])
  state.fails = true
  const failed = expect(renewal.catchUp(performance.now())).rejects.toThrow('refused')
  await vi.advanceTimersByTimeAsync(READ_MS)
  await failed
})

test('a change during a read is read after it', async () => {
  const { renewal, began } = opened()
  renewal.wake(AFTER_MS)
  await vi.advanceTimersByTimeAsync(2000)
  renewal.wake(AFTER_MS)
  await vi.advanceTimersByTimeAsync(60_000)
  expect(began).toEqual([1000, 5000])
})

test('a read that is due while nothing may be read is made once when that ends', async () => {
  const { renewal, began, state } = opened()
  state.mayNotRead = true
  for (let i = 0; i < 3; i++) {
    renewal.wake(AFTER_MS)
    await vi.advanceTimersByTimeAsync(10_000)
  }
  expect(began).toEqual([])
  state.mayNotRead = false
  for (let i = 0; i < 2; i++) renewal.goOn()
  await vi.advanceTimersByTimeAsync(60_000)
  expect(began).toEqual([30_000])
})

test('a gap when reading goes on is its one read', async () => {
  const { renewal, began, state } = opened()
  state.mayNotRead = true
  renewal.wake(AFTER_MS)
  await vi.advanceTimersByTimeAsync(10_000)
  state.mayNotRead = false
  void renewal.catchUp(performance.now())
  renewal.goOn()
  await vi.advanceTimersByTimeAsync(60_000)
  expect(began).toEqual([10_000])
})

test('a page that is left reads nothing more', async () => {
  const { renewal, began, state } = opened()
  renewal.wake(AFTER_MS)
  await vi.advanceTimersByTimeAsync(2000)
  renewal.wake(AFTER_MS)
  void renewal.catchUp(performance.now())
  state.mayNotRead = true
  await vi.advanceTimersByTimeAsync(1000)
  state.mayNotRead = false
  renewal.stop()
  renewal.goOn()
  await vi.advanceTimersByTimeAsync(60_000)
  expect(began).toEqual([1000])
})

test('a clock of the machine that is set back by an hour delays no read', async () => {
  const { renewal, began } = opened()
  renewal.wake(AFTER_MS)
  await vi.advanceTimersByTimeAsync(10_000)
  vi.setSystemTime(Date.now() - 3_600_000)
  renewal.wake(AFTER_MS)
  await vi.advanceTimersByTimeAsync(10_000)
  expect(began).toEqual([1000, 11_000])
})
