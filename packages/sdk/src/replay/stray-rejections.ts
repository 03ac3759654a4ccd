// Reports promises that a handler or a step callback rejects and nothing awaits, with the run that they belong to. Without a
// listener Node would end the process, and every other pass with it. Called by invoke.ts.

import { AsyncLocalStorage } from 'node:async_hooks'

type Report = (error: unknown) => void

const reportOf = new AsyncLocalStorage<Report>()
let isListening = false

/** Calls `run`. Stray rejections of what it starts go to `report`, also after it has returned. */
export function withStrayRejections<T>(report: Report, run: () => T): T {
  if (!isListening) process.on('unhandledRejection', onRejection)
  isListening = true
  return reportOf.run(report, run)
}

function onRejection(error: unknown): void {
  const report = reportOf.getStore()
  if (report) report(error)
  // A rejection of other code has the effect that it has without this listener: another listener takes it, or the process ends.
  else if (process.listenerCount('unhandledRejection') === 1) {
    setImmediate(() => {
      throw error
    })
  }
}
