// The run whose code is running, for helper functions that do not get the handler's arguments.

import { passScope } from '../pass/pass-scope.ts'
import type { Logger } from '../run/logger.ts'
import type { RunContext } from '../run/run-context.ts'
import type { WorkflowArgs } from '../workflow/workflow.ts'

/** The arguments of the handler that is running, and parts of its `ctx`. */
export interface CurrentRun extends WorkflowArgs {
  /** `ctx.logger`. */
  readonly log: Logger
  readonly attributes: RunContext['attributes']
  readonly progress: RunContext['progress']
}

/**
 * Returns the run whose handler, step callback or middleware calls this, in any function and after any `await`; undefined
 * elsewhere. `event` is the event that the handler gets; in `wrapRun` its data has not been parsed yet.
 */
export function currentRun(): CurrentRun | undefined {
  const args = passScope.getStore()?.run.args
  if (!args) return undefined
  const { logger: log, attributes, progress } = args.ctx
  return { ...args, log, attributes, progress }
}
