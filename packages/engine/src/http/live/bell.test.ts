import { describe, expect, test } from 'vitest'
import { VirtualClock } from '../../adapters/clock/virtual.ts'
import { Bell } from './bell.ts'

describe('Bell', () => {
  test('wakes the one who waits, and leaves no timer behind', async () => {
    const clock = new VirtualClock()
    const bell = new Bell()
    const woken = bell.wait(clock, clock.now() + 1000)
    expect(clock.timerCount).toBe(1)
    bell.ring()
    await woken
    expect(clock.timerCount).toBe(0)
  })

  test('rings between waits are remembered, as one', async () => {
    const clock = new VirtualClock()
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
    await clock.advance(1000)
    await second
  })
})
