// A pause between two tries or two batches of a service, which ends early when the service stops.

import type { Clock } from '../../ports/clock.ts'

/** Resolves after `ms`, or when the signal aborts: no timer is left then. */
export function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  return new Promise(resolve => {
    const done = () => {
      cancelTimer()
      signal.removeEventListener('abort', done)
      resolve()
    }
    const cancelTimer = clock.after(ms, done)
    signal.addEventListener('abort', done)
  })
}
