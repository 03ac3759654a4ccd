// Which step callback the running code belongs to, across awaits: for log lines and against nested steps.

import { AsyncLocalStorage } from 'node:async_hooks'
import type { LogScope } from '../log-buffer.ts'

export interface StepScope {
  /** The pass that runs the callback: a runner has many at once. */
  readonly pass: object
  readonly stepName: string
  readonly logScope: LogScope
}

export const stepScope = new AsyncLocalStorage<StepScope>()

/** The callback of `pass` that is running, if any. */
export function scopeWithin(pass: object): StepScope | undefined {
  const scope = stepScope.getStore()
  return scope?.pass === pass ? scope : undefined
}
