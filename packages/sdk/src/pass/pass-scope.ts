// Tracks across awaits which pass, and which of its step callbacks, the running code belongs to. The logger needs it for the
// scope of a line, the pass to refuse nested steps, stray-rejections.ts to name the run of a rejection. All three share one
// storage: each storage makes every promise of the process dearer.

import { AsyncLocalStorage } from 'node:async_hooks'
import { NonRetriableError } from '@perdure/client'
import type { LogScope } from '../run/log-buffer.ts'

/** A running pass. A runner has many at once. */
export interface PassScope {
  readonly pass: object
  /** Takes a rejection that nothing awaits. */
  readonly onStray: (error: unknown) => void
  /** The step callback that runs the code, if one does. */
  readonly step?: StepScope
}

interface StepScope {
  readonly stepName: string
  readonly logScope: LogScope
}

export const passScope = new AsyncLocalStorage<PassScope>()

/** Returns the step callback of `pass` that the caller belongs to, if any. */
export function scopeWithin(pass: object): StepScope | undefined {
  const scope = passScope.getStore()
  return scope?.pass === pass ? scope.step : undefined
}

/** Throws for a nested step: the step would wait for the end of the pass, and the pass for the outer callback. */
export function refuseNesting(pass: object, name: string): void {
  const scope = scopeWithin(pass)
  if (!scope) return
  throw new NonRetriableError(
    `Step "${name}" was called inside the callback of step "${scope.stepName}": steps cannot be nested`,
  )
}
