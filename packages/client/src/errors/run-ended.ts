// The error of a run that ended without a result. Handles of runs reject with it.

import type { RunError } from '@perdure/protocol/portable'
import { matchByBrand } from './brand.ts'
import { define, restore } from './stored-error.ts'

const runEnded: unique symbol = Symbol.for('perdure.run-ended') as never

/**
 * A run whose result was awaited failed or was cancelled: `message`, `name`, `stack`, `code`, `cause` and own fields are those of
 * its error.
 */
export class RunEndedError extends Error {
  static {
    matchByBrand(RunEndedError, runEnded)
  }
  readonly [runEnded] = true
  readonly runId: string
  readonly status: 'failed' | 'cancelled'
  /** Code of the thrown error, else of the run's, such as `step_failed`. */
  declare readonly code?: string | number
  /** The step that ended the run. */
  declare readonly stepName?: string
  constructor(run: { id: string; status: 'failed' | 'cancelled'; error?: RunError }) {
    super(run.error?.message ?? `Run ${run.id} was cancelled`)
    if (run.error) restore(this, run.error)
    else this.name = 'RunEndedError'
    this.runId = run.id
    this.status = run.status
    if (run.error?.stepName !== undefined) define(this, 'stepName', run.error.stepName)
  }
}
