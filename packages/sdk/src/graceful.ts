// Ending in order: runners that serve or connect are closed at the first SIGTERM or SIGINT, then the process ends.

type Signal = 'SIGTERM' | 'SIGINT'
const SIGNALS: readonly Signal[] = ['SIGTERM', 'SIGINT']
const EXIT_CODES = { SIGTERM: 143, SIGINT: 130 }
/** A process that cannot end in order ends anyway. A little over what a runner gives its passes. */
const END_MS_MAX = 35_000

const closers = new Set<() => Promise<void>>()
let ending = false

/**
 * Calls `close` at the first SIGTERM or SIGINT, and ends the process with code 0 when everything that was given here
 * has closed (unless others listen to the signal: then the end is theirs). A second signal ends it at once. Answers
 * how to take `close` back. Does nothing where there are no signals.
 */
export function closeOnSignals(close: () => Promise<void>): () => void {
  if (typeof globalThis.process?.on !== 'function') return () => undefined
  // One listener for all: a process may have many runners.
  if (closers.size === 0) for (const signal of SIGNALS) process.on(signal, onSignal)
  closers.add(close)
  return () => {
    // While the process ends the listeners stay: a second signal must still be heard.
    if (closers.delete(close) && closers.size === 0 && !ending) stopListening()
  }
}

function onSignal(signal: Signal): void {
  if (ending) process.exit(EXIT_CODES[signal])
  ending = true
  const deadline = setTimeout(() => process.exit(1), END_MS_MAX)
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
