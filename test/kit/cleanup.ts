// What a test file has opened is closed when the file ends, the newest first: no process, port or file outlives it.

import { afterAll } from 'vitest'

const pending: (() => unknown)[] = []

/** Runs `close` at the end of the test file. */
export function onCleanup(close: () => unknown): void {
  pending.push(close)
}

afterAll(async () => {
  const failures: unknown[] = []
  for (const close of pending.splice(0).reverse()) {
    try {
      await close()
    } catch (error) {
      failures.push(error)
    }
  }
  if (failures.length > 0) throw new AggregateError(failures, 'cleaning up failed')
})
