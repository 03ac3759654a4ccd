// Bounds how long a service waits for a promise that may never settle.

import type { Clock } from '../../ports/clock.ts'

/**
 * Returns the promise's result; rejects if it takes longer than `ms`. A result that came in time counts, even if the event loop
 * was too busy to read it before the timer fired.
 */
export async function withDeadline<T>(clock: Clock, ms: number, promise: Promise<T>): Promise<T> {
  let cancel = () => {}
  const late = new Promise<never>((_, reject) => {
    const giveUp = () => reject(new Error(`no answer within ${ms} ms`))
    cancel = clock.after(ms, () => setImmediate(giveUp))
  })
  try {
    return await Promise.race([promise, late])
  } finally {
    cancel()
  }
}
