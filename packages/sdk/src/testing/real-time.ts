// The real clock and the event loop, taken before any test can replace them with fake ones.

const { setImmediate, setTimeout, clearTimeout, performance } = globalThis

/** Milliseconds of real time, from some moment on. */
export const realNow = (): number => performance.now()

/** Resolves in the next turn of the event loop. */
export const nextTurn = (): Promise<void> => new Promise(resolve => setImmediate(resolve))

/** Calls `fn` after so much real time; returns what takes the call back. */
export function afterReal(ms: number, fn: () => void): () => void {
  const timer = setTimeout(fn, ms)
  return () => clearTimeout(timer)
}
