// Graceful shutdown: closes the runners of the process at the first SIGTERM or SIGINT, then ends the process. Called by
// the serve adapters and by `connect()`.

type Signal = 'SIGTERM' | 'SIGINT'
const SIGNALS: readonly Signal[] = ['SIGTERM', 'SIGINT']
const EXIT_CODES = { SIGTERM: 143, SIGINT: 130 }
/** The process exits after this time even if a runner has not closed. A little more than the time a runner gives its passes. */
const SHUTDOWN_MS_MAX = 35_000

const closers = new Set<() => Promise<void>>()
let ending = false

/**
 * Returns a function that calls `close` once and always returns the same promise. Unless `handleSignals` is false, the
 * function is also called at the first SIGTERM or SIGINT, until `close` has settled.
 */
export function closeOnce(close: () => Promise<void>, handleSignals = true): () => Promise<void> {
  let closed: Promise<void> | undefined
  const once = () => {
    closed ??= close().finally(stopHandling)
    return closed
  }
  const stopHandling = handleSignals ? closeOnSignals(once) : () => undefined
  return once
}

/**
 * Calls `close` at the first SIGTERM or SIGINT, and ends the process with code 0 when every `close` passed to this
 * function has resolved. If the process has other listeners for the signal, they decide when it ends. A second signal
 * ends the process at once. Returns a function that removes `close`. Does nothing on a runtime without signals.
 */
export function closeOnSignals(close: () => Promise<void>): () => void {
  if (typeof globalThis.process?.on !== 'function') return () => undefined
  // All runners share one listener, because a process may have many runners.
  if (closers.size === 0) for (const signal of SIGNALS) process.on(signal, onSignal)
  closers.add(close)
  return () => {
    // The listeners stay while the process ends, so that a second signal still works.
    if (closers.delete(close) && closers.size === 0 && !ending) stopListening()
  }
}

function onSignal(signal: Signal): void {
  if (ending) process.exit(EXIT_CODES[signal])
  ending = true
  const deadline = setTimeout(() => process.exit(1), SHUTDOWN_MS_MAX)
  deadline.unref()
  Promise.allSettled([...closers].map(close => close())).then(() => {
    clearTimeout(deadline)
    ending = false
    const others = process.listenerCount(signal) > 1
    stopListening()
    if (!others) process.exit(0)
  })
}

function stopListening(): void {
  for (const signal of SIGNALS) process.off(signal, onSignal)
}
