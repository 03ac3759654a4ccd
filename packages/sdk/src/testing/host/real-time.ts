// The real clock and the event loop. The functions are captured when the module loads, before a test can replace the
// globals with fake timers.

const { setImmediate, setTimeout, clearTimeout, performance } = globalThis

/** Milliseconds of real time since an arbitrary moment. */
export const realNow = (): number => performance.now()

/** Resolves in the next turn of the event loop. */
export const nextTurn = (): Promise<void> => new Promise(resolve => setImmediate(resolve))

/** Calls `fn` after `ms` milliseconds of real time. Returns a function that cancels the call. */
export function afterReal(ms: number, fn: () => void): () => void {
  const timer = setTimeout(fn, ms)
  return () => clearTimeout(timer)
}
