// Errors of the testing kit. Errors of the engine itself are errors of the typed client.

import { define, restore } from '@perdure/client/internal'
import type { Run } from '@perdure/protocol'

/**
 * The run ended without a result. `message`, `name`, `stack`, `code`, `cause` and own fields are those of the run's error.
 */
export class RunFailedError extends Error {
  readonly runId: string
  readonly status: 'failed' | 'cancelled'
  /** The code of the thrown error, otherwise the engine's, such as `step_failed`; undefined if the run was cancelled. */
  declare readonly code: string | number | undefined
  /** The step whose failure failed the run, if it was a step. */
  declare readonly stepName: string | undefined

  constructor(run: Run) {
    const { error } = run
    super(error?.message ?? `Run ${run.id} of "${run.workflow}" was cancelled`)
    if (error) restore(this, error)
    else this.name = 'RunFailedError'
    this.runId = run.id
    this.status = run.status === 'cancelled' ? 'cancelled' : 'failed'
    if (error?.stepName !== undefined) define(this, 'stepName', error.stepName)
  }
}

/** The test expected something that did not happen, or made a call that is not possible in the current state. */
export class TestingError extends Error {
  override readonly name = 'TestingError'
}
