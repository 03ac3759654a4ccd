// Tracks across awaits which pass, and which of its step callbacks, the running code belongs to. The logger needs this for the
// scope of a line, the pass to refuse nested steps, stray-rejections.ts to name the run of a rejection, and `currentRun()` to
// return the run. All share one storage, because each storage makes every promise of the process more expensive.

import { AsyncLocalStorage } from 'node:async_hooks'
import { NonRetriableError } from '@perdure/client'
import type { Branch } from '../run/branch.ts'
import type { LogScope } from '../run/log-buffer.ts'
import type { WorkflowArgs } from '../workflow/workflow.ts'

/** A running pass. A runner has many at once. */
export interface PassScope {
  readonly pass: object
  /** Takes a rejection that nothing awaits. */
  readonly onStray: (error: unknown) => void
  readonly run: RunOfPass
  /** The step callback that runs the code, if one does. */
  readonly step?: StepScope
  /** The branch of a race or a map that runs the code, if one does. */
  readonly branch?: Branch
}

/** Takes the arguments of the handler when it is called. */
export interface RunOfPass {
  args?: WorkflowArgs
}

interface StepScope {
  readonly stepName: string
  readonly logScope: LogScope
}

/** One for all copies of the SDK in the process: a library may load the CommonJS files, and the runner the ES modules. */
const STORAGE_KEY = Symbol.for('perdure.pass-scope.1')
const shared = globalThis as { [STORAGE_KEY]?: AsyncLocalStorage<PassScope> }
shared[STORAGE_KEY] ??= new AsyncLocalStorage<PassScope>()
export const passScope = shared[STORAGE_KEY]

/** Returns the step callback of `pass` that the caller belongs to, if any. */
export function scopeWithin(pass: object): StepScope | undefined {
  const scope = passScope.getStore()
  return scope?.pass === pass ? scope.step : undefined
}

/** Returns the branch of `pass` that the caller belongs to, if any. */
export function branchWithin(pass: object): Branch | undefined {
  const scope = passScope.getStore()
  return scope?.pass === pass ? scope.branch : undefined
}

/** Throws for a nested step: the step would wait for the end of the pass, and the pass for the outer callback. */
export function refuseNesting(pass: object, name: string): void {
  const scope = scopeWithin(pass)
  if (!scope) return
  throw new NonRetriableError(
    `Step "${name}" was called inside the callback of step "${scope.stepName}": steps cannot be nested`,
  )
}
