import { describe, expect, test } from 'vitest'
import { ManualClock } from '../http.testkit.ts'
import { Bell } from './bell.ts'

describe('Bell', () => {
  test('wakes the one who waits, and leaves no timer behind', async () => {
    const clock = new ManualClock()
    const bell = new Bell()
    const woken = bell.wait(clock, clock.now() + 1000)
    expect(clock.timers.size).toBe(1)
    bell.ring()
    await woken
    expect(clock.timers.size).toBe(0)
  })

  test('rings between waits are remembered, as one', async () => {
    const clock = new ManualClock()
    const bell = new Bell()
    bell.ring()
    bell.ring()
    await bell.wait(clock, clock.now() + 1000)
    let woken = false
    const second = bell.wait(clock, clock.now() + 1000).then(() => {
      woken = true
    })
    await Promise.resolve()
    expect(woken).toBe(false)
    clock.advance(1000)
    await second
  })
})
