// What the testing kit rejects with, apart from the engine's own refusals.

import type { Run } from '@perdure/protocol'

/** The run ended without a result: `message`, `name` and `stack` are those of its error. */
export class RunFailedError extends Error {
  readonly runId: string
  readonly status: 'failed' | 'cancelled'
  /** The engine's code, such as `step_failed`; absent when the run was cancelled. */
  readonly code: string | undefined
  /** The step that failed for good, if it was one. */
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

/** The test asked for what did not happen, or what cannot happen any more. */
export class TestingError extends Error {
  override readonly name = 'TestingError'
}
