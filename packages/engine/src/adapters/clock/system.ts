// The clock of a real engine. backends passes it to every service.

import { uptime } from 'node:os'
import type { Clock } from '../../ports/clock.ts'

/**
 * Longest single timer. It is far below the 2^31-1 ms above which `setTimeout` fires at once, so that a clock that was set
 * forward, or a machine that slept, is noticed within a minute instead of at the end of the whole delay.
 */
export const CLOCK_TIMER_MS_MAX = 60_000

/**
 * Timers keep the process alive: an engine without a listener must still wake for a due run. Every caller therefore cancels
 * its timers when it closes; a closed engine has none left.
 */
export const systemClock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  at: (time, fn) => callAt(Date.now, time, fn),
  after: (ms, fn) => callAt(elapsed, elapsed() + ms, fn),
}

/** How long the machine has slept since this process began, if its monotonic clock stands still meanwhile. */
export function systemSleptMs(): number {
  return uptime() * 1000 - STARTED_UPTIME_MS - (performance.now() - STARTED_AT)
}

const STARTED_UPTIME_MS = uptime() * 1000
const STARTED_AT = performance.now()

const elapsed = () => performance.now()

function callAt(read: () => number, time: number, fn: () => void): () => void {
  let timer: NodeJS.Timeout
  const arm = () => {
    timer = setTimeout(check, Math.min(Math.max(0, time - read()), CLOCK_TIMER_MS_MAX))
  }
  // Reads the clock again, so that nothing fires before its time: this timer may have been one of many, `setTimeout`
  // may be a millisecond early, and the wall clock may have been set back.
  const check = () => {
    if (read() >= time) fn()
    else arm()
  }
  arm()
  return () => clearTimeout(timer)
}
