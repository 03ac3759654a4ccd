// Runs one invoke, from its parsed request to its answer. Called by the handler.

import { END_WITH_STEPS_FEATURE, type InvokeRequest, STEP_TIMES_FEATURE } from '@perdure/protocol'
import { chainOf, type MiddlewareChain } from '../middleware/chain.ts'
import type { Middleware, PassEnd } from '../middleware/middleware.ts'
import { type Checkpointer, Checkpoints } from '../pass/checkpoints.ts'
import { Memo } from '../pass/memo.ts'
import { type Outcome, Pass } from '../pass/pass.ts'
import { Cancellation } from '../run/cancellation.ts'
import { LogBuffer } from '../run/log-buffer.ts'
import type { WorkflowEvent } from '../run/run-context.ts'
import { RunReport } from '../run/run-report.ts'
import { type RunnerLog, toConsole } from '../run/runner-log.ts'
import { failedStepOf, reviveError, textOf } from '../wire/errors.ts'
import { collects } from '../workflow/create-workflow.ts'
import type { Workflow, WorkflowArgs } from '../workflow/workflow.ts'
import { withinTrace } from './active-trace.ts'
import { type Answer, answerOf, answerRefusal } from './answer.ts'
import { withinPass } from './stray-rejections.ts'
import { createRunContext, createStepTools } from './tools.ts'
import { warn, warnOfOtherPath, warnOfStray } from './warnings.ts'

/** How a transport runs an invoke. */
export interface InvokeOptions {
  cancellation?: Cancellation
  /** Makes finished steps durable while the pass continues. Without it, the pass ends when it discovers a step. */
  checkpoint?: Checkpointer
  /** Whether the pass may report further steps. Default: until it ends. */
  mayReport?: (() => boolean) | undefined
  /** The runner's middleware, outside the workflow's own. */
  middleware?: readonly Middleware[]
  /** Takes errors that handlers throw outside their steps. Default: the console. */
  log?: RunnerLog | undefined
}

/** Runs one pass of a workflow, or of its on-failure handler when `ctx.onFailure` is set. */
export async function invoke(
  workflow: Workflow,
  request: InvokeRequest,
  { cancellation = new Cancellation(), checkpoint, mayReport, middleware, log = toConsole }: InvokeOptions = {},
): Promise<Answer> {
  const { ctx, event } = request
  if (ctx.onFailure && !workflow.onFailure) {
    return answerRefusal(400, `Workflow "${workflow.name}" has no onFailure handler`)
  }
  const logs = new LogBuffer()
  const report = new RunReport(ctx)
  const memo = new Memo(request.steps)
  let isOnOtherPath = false
  const beforeReport = () => {
    if (isOnOtherPath || !memo.hasUncalled) return
    isOnOtherPath = true
    warnOfOtherPath(logs, { pass, memo })
  }
  const pass: Pass = new Pass(memo, {
    checkpoints: checkpoint && new Checkpoints(checkpoint, { logs, report, beforeReport, isOpen: mayReport }),
    handsOver: ctx.features?.includes(END_WITH_STEPS_FEATURE) ?? false,
  })
  const chain = chainOf(middleware, workflow.middleware)
  const beganAt = ctx.features?.includes(STEP_TIMES_FEATURE) ? performance.now() : undefined
  const onStray = (stray: unknown) => {
    warnOfStray(logs, stray)
    log('error', `${nameOf(ctx)} rejected a promise that nothing awaits: ${textOf(stray)}`)
  }
  const environment = { pass, ctx, logs, report, cancellation, middleware: chain, beganAt, onStray }
  const runContext = createRunContext(environment)
  const args: WorkflowArgs = {
    event: event as WorkflowEvent,
    step: createStepTools(environment, runContext),
    ctx: runContext,
  }
  const error = ctx.onFailure ? reviveError(ctx.error ?? { message: 'The run failed' }) : undefined
  const run = () => pass.run(() => runHandler({ workflow, chain, args, error }))
  const ended = withinPass({ pass, onStray }, () => withinTrace(ctx.traceparent, run))
  cancellation.onCancel(() => pass.cancel())
  const outcome = await ended
  chain.passEnded(runContext, passEndOf(outcome), message => logs.append(logs.root, { level: 'error', message }))
  warn(logs, { pass, memo, outcome })
  const thrown = outcome.kind === 'threw' && failedStepOf(outcome.error) === undefined ? outcome.error : undefined
  if (thrown !== undefined) log('error', `${nameOf(ctx)} threw outside its steps: ${textOf(thrown)}`)
  const answer = answerOf(outcome, { logs, report }, pass.lastAwaited)
  // Callbacks still run after the pass only when the run failed or was cancelled: their signal is aborted.
  if (pass.running > 0) cancellation.cancel(new Error('The pass ended without the result of this step'))
  return answer
}

/** How the runner's log names a pass. */
function nameOf({ runId, workflow, attempt }: InvokeRequest['ctx']): string {
  return `run ${runId} of workflow "${workflow}" (attempt ${attempt})`
}

interface HandlerCall {
  readonly workflow: Workflow
  readonly chain: MiddlewareChain
  readonly args: WorkflowArgs
  /** The error of the failed run, if the on-failure handler is to run. */
  readonly error: Error | undefined
}

/** Returns the handler's result, as it is stored. Rejects with the error of the handler, its schema or a middleware. */
function runHandler(call: HandlerCall): unknown {
  const { workflow, chain } = call
  const args = { ...call.args, event: eventIn(call) }
  if (!chain.touchesRuns) return handle(call, args)
  return chain
    .run({ ctx: args.ctx, event: args.event }, () => handle(call, args))
    .then(result => chain.output(result, { kind: 'result', name: workflow.name }))
}

/** Converts the outcome of a pass to the type that middleware receives. */
function passEndOf(outcome: Outcome): PassEnd {
  if (outcome.kind === 'threw') return { kind: 'threw', error: outcome.error }
  return { kind: outcome.kind === 'opcodes' ? 'parked' : outcome.kind }
}

function eventIn({ workflow, chain, args: { event } }: HandlerCall): WorkflowEvent {
  if (!chain.changesInput) return event
  const place = { kind: 'event', name: event.name } as const
  const collected = collects(workflow.registration) && Array.isArray(event.data)
  const data = collected
    ? (event.data as unknown[]).map(payload => chain.input(payload, place))
    : chain.input(event.data, place)
  return { ...event, data }
}

/** An on-failure handler gets its event unvalidated, because invalid data may be the reason of the failure. */
function handle({ workflow, error }: HandlerCall, args: WorkflowArgs): unknown {
  if (error) return workflow.onFailure?.({ ...args, error })
  if (!workflow.parseEvent) return workflow.handler(args)
  return workflow.parseEvent(args.event).then(event => workflow.handler({ ...args, event }))
}
