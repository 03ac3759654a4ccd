// Work that many callers ask for at once, such as a read of what other engines have changed. Used by the watches.

/**
 * Runs the work once at a time. A call gets the result of a run that began after it: while one is under way, all further calls
 * share the next.
 */
export function sharedRuns<T>(work: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined
  let next: Promise<T> | undefined
  const run = (): Promise<T> => {
    if (!running) {
      running = work().finally(() => {
        running = undefined
      })
      return running
    }
    next ??= running
      .catch(() => {})
      .then(() => {
        next = undefined
        return run()
      })
    return next
  }
  return run
}
