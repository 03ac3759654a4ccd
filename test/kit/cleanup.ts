// What a test file has opened is closed when the file ends, the newest first: no process, port or file outlives it.
// `close-opened.ts` sees to it, file by file: this module may be shared by the files of one process.

const pending: (() => unknown)[] = []

/** Runs `close` at the end of the test file. */
export function onCleanup(close: () => unknown): void {
  pending.push(close)
}

/** Closes all that the file has opened. */
export async function closeOpened(): Promise<void> {
  const failures: unknown[] = []
  for (const close of pending.splice(0).reverse()) {
    try {
      await close()
    } catch (error) {
      failures.push(error)
    }
  }
  if (failures.length > 0) throw new AggregateError(failures, 'cleaning up failed')
}
