// Work that many callers request at once, such as a read of the changes of other engines. Used by the watches.

/**
 * Runs the work once at a time. A call gets the result of a run that began after the call: while a run is under way, all
 * further calls share the next one.
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
