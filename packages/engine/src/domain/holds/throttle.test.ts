// The start queue of a throttle: its order, and how many runs a wake-up makes available at what time.

import { describe, expect, it } from 'vitest'
import { NOW } from '../testkit/nouns.testkit.ts'
import { lateMs, STARTS_WOKEN_MAX, wakeNextStart, wakeStartQueue } from './throttle.ts'

const throttle = (limit: number, periodMs = 1000) => ({ id: 't', limit, periodMs, burst: 0 })

describe('the start queue of a throttle', () => {
  it('calls the first for when the next start is free', () => {
    expect(wakeStartQueue(throttle(1), { freeAt: NOW + 400.2 }, NOW)).toEqual({
      type: 'startQueue.woken',
      id: 't',
      count: 1,
      at: NOW + 401,
    })
    expect(wakeNextStart(throttle(1), NOW)).toEqual({ type: 'startQueue.woken', id: 't', count: 1, at: NOW })
  })

  it('uses the limit that an operator has set, and wakes no run at a limit of 0', () => {
    expect(wakeStartQueue(throttle(1), { freeAt: NOW + 10, limit: 100 }, NOW)).toMatchObject({ count: 2, at: NOW + 20 })
    expect(wakeStartQueue(throttle(1), { freeAt: Number.POSITIVE_INFINITY, limit: 0 }, NOW)).toBeUndefined()
  })

  it('calls those of a fast throttle together, when the last of them may start', () => {
    expect(wakeStartQueue(throttle(100), { freeAt: NOW + 10 }, NOW)).toMatchObject({ count: 2, at: NOW + 20 })
    expect(wakeStartQueue(throttle(1000), { freeAt: NOW + 1 }, NOW)).toMatchObject({ count: 25, at: NOW + 25 })
    expect(wakeStartQueue(throttle(1_000_000), { freeAt: NOW }, NOW)).toMatchObject({
      count: STARTS_WOKEN_MAX,
      at: NOW + 1,
    })
  })

  it('calls them so that there is time to wake them before their starts are too late', () => {
    for (const limit of [40, 41, 50, 100, 1000]) {
      const { at } = wakeStartQueue(throttle(limit), { freeAt: NOW }, NOW) as { at: number }
      expect(at - NOW, `${limit}`).toBeLessThan(lateMs(1000 / limit) - 40)
    }
  })
})
