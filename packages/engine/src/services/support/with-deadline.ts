// A bound on how long a service waits for something that may never answer.

import type { Clock } from '../../ports/clock.ts'

/**
 * The promise's result; rejects when it takes longer than `ms`. An answer that came in time counts, also if the event loop was too busy to
 * read it before the timer fired.
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
