// The Clock and Random ports: the whole engine must run under a virtual clock and a seed.

/**
 * Two kinds of time. People see the wall clock, and timers for a given time use it; someone may set it, even back. The
 * monotonic clock only measures durations, and nobody can set it: every duration uses it.
 */
export interface Clock {
  /** Epoch milliseconds, by the wall clock. */
  now(): number
  /** Milliseconds since some moment, by the monotonic clock: only differences mean something. */
  elapsed(): number
  /** Calls `fn` once at or after `time` of the wall clock (however far away); returns a function that cancels the call. */
  at(time: number, fn: () => void): () => void
  /** Calls `fn` once when `ms` have passed by the monotonic clock; returns a function that cancels the call. */
  after(ms: number, fn: () => void): () => void
}

export interface Random {
  /** A number in [0, 1). */
  next(): number
}

/**
 * Calls `fn` every `ms` of the monotonic clock until the returned function is called. However far the clock leaps, `fn` is
 * called once, so a count of calls does not jump after the machine slept.
 */
export function every(clock: Pick<Clock, 'after'>, ms: number, fn: () => void): () => void {
  let cancel = () => {}
  const next = () => {
    cancel = clock.after(ms, () => {
      next()
      fn()
    })
  }
  next()
  return () => cancel()
}
