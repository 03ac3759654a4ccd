// The tick of the relay: what engines announce and request again and again, and the unit in which they count silence.

import type { Clock } from '../../../ports/clock.ts'

const TICK_MS = 2000

/** A call is given up after more ticks without a message about it, by its caller and by its host alike. */
export const CALL_SILENT_TICKS_MAX = 7

/**
 * Calls `fn` every 2 seconds until the returned function is called. However far the clock leaps, `fn` is called once:
 * silence is counted in calls, so a machine that slept or a clock that was set declares no engine dead.
 */
export function everyTick(clock: Clock, fn: () => void): () => void {
  let cancel = () => {}
  const next = () => {
    cancel = clock.at(clock.now() + TICK_MS, () => {
      next()
      fn()
    })
  }
  next()
  return () => cancel()
}
