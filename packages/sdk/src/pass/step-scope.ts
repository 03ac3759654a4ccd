// Tracks across awaits which step callback the running code belongs to. The logger needs it for the scope of a line, the
// pass to refuse nested steps.

import { AsyncLocalStorage } from 'node:async_hooks'
import type { LogScope } from '../run/log-buffer.ts'

/** A running step callback. */
interface StepScope {
  /** The pass that runs the callback. A runner has many passes at once. */
  readonly pass: object
  readonly stepName: string
  readonly logScope: LogScope
}

export const stepScope = new AsyncLocalStorage<StepScope>()

/** Returns the step callback of `pass` that the caller belongs to, if any. */
export function scopeWithin(pass: object): StepScope | undefined {
  const scope = stepScope.getStore()
  return scope?.pass === pass ? scope : undefined
}
