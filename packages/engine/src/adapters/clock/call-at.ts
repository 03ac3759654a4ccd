// A timer at a time of a clock that may be set while the timer runs. Used by the clocks that derive their own time from this
// machine's.

import type { Clock } from '../../ports/clock.ts'

/** Longest single timer, after which the clock is read again. */
const TIMER_MS_MAX = 60_000

/** Calls `fn` once `clock` shows `time`, and never before; returns a function that cancels the call. */
export function callAt(clock: Pick<Clock, 'now' | 'after'>, time: number, fn: () => void): () => void {
  let cancel = () => {}
  const arm = () => {
    const ms = Math.min(Math.max(0, time - clock.now()), TIMER_MS_MAX)
    cancel = clock.after(ms, () => (clock.now() >= time ? fn() : arm()))
  }
  arm()
  return () => cancel()
}
