// A bound on how long a service waits for something that may never answer.

import type { Clock } from '../../ports/clock.ts'

/** The promise's result; rejects when it takes longer than `ms`. */
export async function withDeadline<T>(clock: Clock, ms: number, promise: Promise<T>): Promise<T> {
  let cancel = () => {}
  const late = new Promise<never>((_, reject) => {
    cancel = clock.after(ms, () => reject(new Error(`no answer within ${ms} ms`)))
  })
  try {
    return await Promise.race([promise, late])
  } finally {
    cancel()
  }
}
