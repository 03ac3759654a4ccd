import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { CLOCK_TIMER_MS_MAX } from './call-at.ts'
import { systemClock } from './system.ts'

const NOW = Date.UTC(2030, 0, 1)
const DAY_MS = 86_400_000

describe('systemClock', () => {
  beforeEach(() => {
    vi.useFakeTimers({ now: NOW })
  })
  afterEach(() => {
    expect(vi.getTimerCount(), 'no timer outlives its test').toBe(0)
    vi.useRealTimers()
  })

  it('fires once, at its time and not before', () => {
    const fn = vi.fn()
    systemClock.at(NOW + 1000, fn)
    vi.advanceTimersByTime(999)
    expect(fn).not.toHaveBeenCalled()
    vi.advanceTimersByTime(1)
    vi.advanceTimersByTime(10_000)
    expect(fn).toHaveBeenCalledTimes(1)
  })

  it('fires soon, but not at once, when the time has passed', () => {
    const fn = vi.fn()
    systemClock.at(NOW - 5, fn)
    expect(fn).not.toHaveBeenCalled()
    vi.advanceTimersByTime(0)
    expect(fn).toHaveBeenCalledTimes(1)
  })

  it('waits longer than one setTimeout can', () => {
    const delays: number[] = []
    const fake = globalThis.setTimeout
    // Not by `vi.spyOn`: `useRealTimers` expects something other than what a spy restores.
    const noted = (wake: () => void, ms: number) => {
      delays.push(ms)
      return fake(wake, ms)
    }
    globalThis.setTimeout = noted as typeof fake
    const fn = vi.fn()
    systemClock.at(NOW + 30 * DAY_MS, fn)
    vi.advanceTimersByTime(30 * DAY_MS - 1)
    expect(fn).not.toHaveBeenCalled()
    vi.advanceTimersByTime(1)
    expect(fn).toHaveBeenCalledTimes(1)
    globalThis.setTimeout = fake
    expect(delays.length).toBeGreaterThan(1)
    for (const delay of delays) expect(delay).toBeLessThanOrEqual(CLOCK_TIMER_MS_MAX)
  })

  it('follows a clock that is set back, and one that is set forward', () => {
    const later = vi.fn()
    systemClock.at(NOW + 1000, later)
    vi.setSystemTime(NOW - 500)
    vi.advanceTimersByTime(1000)
    expect(later, 'by the clock it is 500 ms early').not.toHaveBeenCalled()
    vi.advanceTimersByTime(500)
    expect(later).toHaveBeenCalledTimes(1)

    const sooner = vi.fn()
    systemClock.at(systemClock.now() + 10 * DAY_MS, sooner)
    vi.setSystemTime(systemClock.now() + 10 * DAY_MS)
    vi.advanceTimersByTime(60_000)
    expect(sooner).toHaveBeenCalledTimes(1)
  })

  it('measures durations by the monotonic clock, however the wall clock is set', () => {
    const fn = vi.fn()
    systemClock.after(1000, fn)
    const since = systemClock.elapsed()
    vi.setSystemTime(NOW - 3_600_000)
    vi.advanceTimersByTime(999)
    vi.setSystemTime(NOW + 3_600_000)
    expect(fn).not.toHaveBeenCalled()
    vi.advanceTimersByTime(1)
    expect(fn).toHaveBeenCalledTimes(1)
    expect(systemClock.elapsed() - since).toBe(1000)
  })

  it('cancels a timer, also one that was started again', () => {
    const fn = vi.fn()
    const cancel = systemClock.at(NOW + DAY_MS, fn)
    vi.advanceTimersByTime(DAY_MS / 2)
    cancel()
    cancel()
    expect(vi.getTimerCount()).toBe(0)
    vi.advanceTimersByTime(DAY_MS)
    expect(fn).not.toHaveBeenCalled()
  })

  it('may set the next timer from within a timer', () => {
    const fn = vi.fn()
    systemClock.at(NOW + 1, () => systemClock.at(NOW + 2, fn))
    vi.advanceTimersByTime(2)
    expect(fn).toHaveBeenCalledTimes(1)
  })
})

it('a pending timer keeps the process alive, a cancelled one does not', () => {
  const module = fileURLToPath(new URL('./system.ts', import.meta.url))
  const code = `import { systemClock } from ${JSON.stringify(module)}
    systemClock.at(systemClock.now() + 60_000, () => console.log('late'))()
    systemClock.at(systemClock.now() + 200, () => console.log('woke'))`
  const args = ['--import', 'tsx', '--input-type=module', '-e', code]
  const ended = spawnSync(process.execPath, args, { encoding: 'utf8', timeout: 20_000 })
  expect(ended).toMatchObject({ status: 0, stdout: 'woke\n' })
}, 30_000)
