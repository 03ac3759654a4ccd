import { getEventListeners } from 'node:events'
import { expect, it } from 'vitest'
import { VirtualClock } from '../../../packages/engine/src/adapters/clock/virtual.ts'
import { LANE_WAKES_MAX, MemoryQueue } from '../../../packages/engine/src/adapters/queue/memory.ts'
import { queueContract } from './queue-contract.ts'

queueContract('memory', async clock => ({ queue: new MemoryQueue(clock), close: async () => {} }))

it('has no ping, as it uses no network', () => {
  expect(new MemoryQueue(new VirtualClock())).not.toHaveProperty('ping')
})

it('has no timer without a wait, and one listener per wait', async () => {
  const clock = new VirtualClock({ start: 0 })
  const queue = new MemoryQueue(clock)
  const { signal } = new AbortController()
  queue.wake('runs', 100)
  expect(clock.nextTimer()).toBeUndefined()
  const wait = queue.wait('runs', 1000, signal)
  expect(clock.nextTimer()).toBe(100)
  expect(getEventListeners(signal, 'abort')).toHaveLength(1)
  await clock.advance(100)
  await wait
  expect(clock.nextTimer()).toBeUndefined()
  expect(getEventListeners(signal, 'abort')).toHaveLength(0)
})

it('uses up a wake-up that is due at `until`', async () => {
  const clock = new VirtualClock({ start: 0 })
  const queue = new MemoryQueue(clock)
  const { signal } = new AbortController()
  const first = queue.wait('runs', 100, signal)
  queue.wake('runs', 100)
  await clock.advance(100)
  await first
  let over = false
  const second = queue.wait('runs', 200, signal).then(() => {
    over = true
  })
  await clock.advance(99)
  expect(over).toBe(false)
  await clock.advance(1)
  await second
})

it('remembers a bounded number of wake-ups, the earliest ones', async () => {
  const clock = new VirtualClock({ start: 0, settle: () => new Promise(resolve => setImmediate(resolve)) })
  const queue = new MemoryQueue(clock)
  const controller = new AbortController()
  for (let time = LANE_WAKES_MAX + 500; time > 0; time--) queue.wake('runs', time)
  const wokenAt: number[] = []
  const listening = (async () => {
    for (;;) {
      await queue.wait('runs', Number.POSITIVE_INFINITY, controller.signal)
      if (controller.signal.aborted) return
      wokenAt.push(clock.now())
    }
  })()
  await clock.advance(LANE_WAKES_MAX + 500)
  controller.abort()
  await listening
  expect(wokenAt).toEqual(Array.from({ length: LANE_WAKES_MAX }, (_, i) => i + 1))
})
