// Errors of the testing kit. Errors of the engine itself are errors of the typed client.

import type { Run } from '@perdure/protocol'

/** The run ended without a result. `message`, `name` and `stack` are those of the run's error. */
export class RunFailedError extends Error {
  readonly runId: string
  readonly status: 'failed' | 'cancelled'
  /** The engine's code, such as `step_failed`; undefined when the run was cancelled. */
  readonly code: string | undefined
  /** The step whose failure failed the run, if it was a step. */
  readonly stepName: string | undefined

  constructor(run: Run) {
    const { error } = run
    super(error?.message ?? `Run ${run.id} of "${run.workflow}" was cancelled`)
    this.name = error?.name ?? 'RunFailedError'
    if (error?.stack !== undefined) this.stack = error.stack
    this.runId = run.id
    this.status = run.status === 'cancelled' ? 'cancelled' : 'failed'
    this.code = error?.code
    this.stepName = error?.stepName
  }
}

/** The test expected something that did not happen, or called something that is not possible in the current state. */
export class TestingError extends Error {
  override readonly name = 'TestingError'
}
