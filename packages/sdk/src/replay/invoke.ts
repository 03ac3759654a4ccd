// Runs one invoke, from its parsed request to its answer. Called by the handler.

import type { InvokeRequest } from '@perdure/protocol'
import { chainOf } from '../middleware/chain.ts'
import type { Middleware } from '../middleware/middleware.ts'
import type { Checkpointer } from '../pass/checkpoint.ts'
import { Checkpoints } from '../pass/checkpoints.ts'
import { Memo } from '../pass/memo.ts'
import { Pass } from '../pass/pass.ts'
import { Cancellation } from '../run/cancellation.ts'
import { LogBuffer } from '../run/log-buffer.ts'
import type { WorkflowEvent } from '../run/run-context.ts'
import { reviveError } from '../wire/errors.ts'
import type { Workflow, WorkflowArgs } from '../workflow/workflow.ts'
import { withinTrace } from './active-trace.ts'
import { type Answer, answerError, answerOf } from './answer.ts'
import { passEndOf, runHandler } from './run-handler.ts'
import { createRunContext, createStepTools } from './tools.ts'
import { warn } from './warnings.ts'

/** How a transport runs an invoke. */
export interface InvokeOptions {
  cancellation?: Cancellation
  /** Makes finished steps durable while the pass continues. Without it, the pass ends when it discovers a step. */
  checkpoint?: Checkpointer
  /** The runner's middleware, outside the workflow's own. */
  middleware?: readonly Middleware[]
}

/** Runs one pass of a workflow, or of its on-failure handler when `ctx.onFailure` is set. */
export async function invoke(
  workflow: Workflow,
  request: InvokeRequest,
  { cancellation = new Cancellation(), checkpoint, middleware }: InvokeOptions = {},
): Promise<Answer> {
  const { ctx, event } = request
  if (ctx.onFailure && !workflow.onFailure) {
    return answerError(400, new Error(`Workflow "${workflow.name}" has no onFailure handler`))
  }
  const logs = new LogBuffer()
  const memo = new Memo(request.steps)
  const pass = new Pass(memo, checkpoint && new Checkpoints(checkpoint, logs))
  const chain = chainOf(middleware, workflow.middleware)
  const environment = { pass, ctx, logs, cancellation, middleware: chain }
  const runContext = createRunContext(environment)
  const args: WorkflowArgs = {
    event: event as WorkflowEvent,
    step: createStepTools(environment, runContext),
    ctx: runContext,
  }
  const error = ctx.onFailure ? failureOf(request) : undefined
  const ended = withinTrace(ctx.traceparent, () =>
    pass.run(() => runHandler({ workflow, chain, args, error })),
  )
  cancellation.onCancel(() => pass.cancel())
  const outcome = await ended
  chain.passEnded(runContext, passEndOf(outcome), message =>
    logs.append(logs.root, { level: 'error', message }),
  )
  warn(logs, { pass, memo, outcome })
  const answer = answerOf(outcome, logs)
  // Callbacks still run after the pass only when the run failed or was cancelled: their signal is aborted.
  if (pass.running > 0) cancellation.cancel(new Error('The pass ended without the result of this step'))
  return answer
}

function failureOf({ ctx }: InvokeRequest): Error {
  return reviveError(ctx.error ?? { message: 'The run failed' })
}
