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
