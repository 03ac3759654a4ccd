// A timer at a time of a clock that may be set while the timer runs. Used by the clocks of a real engine.

import type { Clock } from '../../ports/clock.ts'

/**
 * Longest single timer. It is far below the 2^31-1 ms above which `setTimeout` fires at once, so that a clock that was set
 * forward, or a machine that slept, is noticed within a minute instead of at the end of the whole delay.
 */
export const CLOCK_TIMER_MS_MAX = 60_000

/** Calls `fn` once `clock` shows `time`, and never before; returns a function that cancels the call. */
export function callAt(clock: Pick<Clock, 'now' | 'after'>, time: number, fn: () => void): () => void {
  let cancel = () => {}
  const arm = () => {
    cancel = clock.after(Math.min(Math.max(0, time - clock.now()), CLOCK_TIMER_MS_MAX), check)
  }
  // Reads the clock again, so that nothing fires before its time: this timer may have been one of many, `setTimeout`
  // may be a millisecond early, and the wall clock may have been set back.
  const check = () => {
    if (clock.now() >= time) fn()
    else arm()
  }
  arm()
  return () => cancel()
}
