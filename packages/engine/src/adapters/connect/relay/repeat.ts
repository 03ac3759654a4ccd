// The beat of the relay: what it says again and again, and the looks by which it counts how long others are silent.

import type { Clock } from '../../../ports/clock.ts'

/**
 * Calls `fn` every `ms`, until the returned function is called. However far the clock leaps, it is called once: silence is
 * counted in calls, so that a machine that slept, or a clock that was set, declares nobody dead.
 */
export function repeatEvery(clock: Clock, ms: number, fn: () => void): () => void {
  let cancel = () => {}
  const again = () => {
    cancel = clock.at(clock.now() + ms, () => {
      again()
      fn()
    })
  }
  again()
  return () => cancel()
}
