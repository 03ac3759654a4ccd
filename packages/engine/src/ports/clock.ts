// The Clock and Random ports: the whole engine must run under a virtual clock and a seed.

export interface Clock {
  /** Epoch milliseconds. */
  now(): number
  /** Calls `fn` once at or after `time` (however far away); returns a function that cancels the call. */
  at(time: number, fn: () => void): () => void
}

export interface Random {
  /** A number in [0, 1). */
  next(): number
}

/**
 * Calls `fn` every `ms` until the returned function is called. However far the clock leaps, `fn` is called once: what is
 * counted in calls does not jump when a machine slept or a clock was set.
 */
export function every(clock: Clock, ms: number, fn: () => void): () => void {
  let cancel = () => {}
  const next = () => {
    cancel = clock.at(clock.now() + ms, () => {
      next()
      fn()
    })
  }
  next()
  return () => cancel()
}
