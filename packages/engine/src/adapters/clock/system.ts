// The clock of a real engine; compose hands it to everybody who needs to know the time or to wait for one.

import type { Clock } from '../../ports/clock.ts'

/**
 * Longest single timer. Far below the 2^31-1 ms at which `setTimeout` fires at once, so that a clock that was set
 * forward, or a machine that slept, is noticed within a minute instead of when the whole delay has run.
 */
export const TIMER_MS_MAX = 60_000

/**
 * Timers hold the process, because a due run is a reason to live: an engine without a listener must still wake.
 * What ends is therefore taken back by whoever asked for it; an engine that closed has no timer left.
 */
export const systemClock: Clock = {
  now: () => Date.now(),
  at(time, fn) {
    let timer: NodeJS.Timeout
    const arm = () => {
      timer = setTimeout(ring, Math.min(Math.max(0, time - Date.now()), TIMER_MS_MAX))
    }
    // Looks at the clock again: the piece may have been one of many, `setTimeout` may be a millisecond early,
    // and a clock that was set back makes the time later. Nothing fires before its time.
    const ring = () => {
      if (Date.now() >= time) fn()
      else arm()
    }
    arm()
    return () => clearTimeout(timer)
  },
}
