// The clock of a real engine. backends passes it to every service.

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
  at(time, fn) {
    let timer: NodeJS.Timeout
    const arm = () => {
      timer = setTimeout(check, Math.min(Math.max(0, time - Date.now()), CLOCK_TIMER_MS_MAX))
    }
    // Reads the clock again, so that nothing fires before its time: this timer may have been one of many, `setTimeout`
    // may be a millisecond early, and the clock may have been set back.
    const check = () => {
      if (Date.now() >= time) fn()
      else arm()
    }
    arm()
    return () => clearTimeout(timer)
  },
}
