// Reports promises that a handler or a step callback rejects and nothing awaits, with the run that they belong to. Without a
// listener Node would end the process, and every other pass with it. Called by invoke.ts.

import { type PassScope, passScope } from '../pass/pass-scope.ts'

let isListening = false

/** Calls `run` as code of the pass. Its stray rejections go to the pass, even after `run` has returned. */
export function withinPass<T>(scope: PassScope, run: () => T): T {
  if (!isListening) process.on('unhandledRejection', onRejection)
  isListening = true
  return passScope.run(scope, run)
}

function onRejection(error: unknown): void {
  const scope = passScope.getStore()
  if (scope) scope.onStray(error)
  // A rejection of other code has the same effect as without this listener: another listener takes it, or the process ends.
  else if (process.listenerCount('unhandledRejection') === 1) {
    setImmediate(() => {
      throw error
    })
  }
}
