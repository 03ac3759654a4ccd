// Closes everything a test file has opened when the file ends, newest first. No process, port or file outlives its test file.
// `close-opened.ts` calls `closeOpened` file by file, since the files of one worker share this module.

const pending: (() => unknown)[] = []

/** Runs `close` at the end of the test file. */
export function onCleanup(close: () => unknown): void {
  pending.push(close)
}

/** Closes everything that the file has opened. */
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
