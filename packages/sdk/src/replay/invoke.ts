// One invoke from its parsed request to its answer: the transports below know only this and the checks.

import type { InvokeRequest } from '@perdure/protocol'
import { Cancellation } from '../cancellation.ts'
import { reviveError } from '../errors.ts'
import { LogBuffer } from '../logger.ts'
import type { FailureArgs, WorkflowArgs, WorkflowEvent } from '../step-tools.ts'
import type { Workflow } from '../workflow.ts'
import { type Answer, answerError, answerOf } from './answer.ts'
import type { Checkpointer } from './checkpoint.ts'
import { Memo } from './memo.ts'
import { Pass } from './pass.ts'
import { createRunContext, createStepTools } from './tools.ts'

export interface InvokeOptions {
  cancellation?: Cancellation
  /** Makes finished steps durable while the pass goes on. Without it the pass ends where a step is discovered. */
  checkpoint?: Checkpointer
}

/** Runs one pass of a workflow, or of its on-failure handler when `ctx.onFailure` is set. */
export async function invoke(
  workflow: Workflow,
  request: InvokeRequest,
  { cancellation = new Cancellation() }: InvokeOptions = {},
): Promise<Answer> {
  const { ctx, event } = request
  if (ctx.onFailure && !workflow.onFailure) {
    return answerError(400, new Error(`Workflow "${workflow.name}" has no onFailure handler`))
  }
  const logs = new LogBuffer()
  const pass = new Pass(new Memo(request.steps))
  const environment = { pass, ctx, logs, cancellation }
  const args: WorkflowArgs = {
    event: event as WorkflowEvent,
    step: createStepTools(environment),
    ctx: createRunContext(environment),
  }
  const outcome = pass.run(() =>
    ctx.onFailure ? workflow.onFailure?.(failureArgs(args, request)) : workflow.handler(args),
  )
  cancellation.onCancel(() => pass.cancel())
  const answer = answerOf(await outcome, logs)
  // Callbacks that outlive the pass do so because the run failed or was cancelled: they are told.
  if (pass.running > 0) cancellation.cancel(new Error('The pass ended without the result of this step'))
  return answer
}

function failureArgs(args: WorkflowArgs, { ctx }: InvokeRequest): FailureArgs {
  return { ...args, error: reviveError(ctx.error ?? { message: 'The run failed' }) }
}
