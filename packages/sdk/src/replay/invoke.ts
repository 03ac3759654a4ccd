// Runs one invoke, from its parsed request to its answer. Called by the handler.

import { type InvokeContext, type InvokeRequest, knows } from '@perdure/protocol'
import { chainOf } from '../middleware/chain.ts'
import type { Middleware, PassEnd } from '../middleware/middleware.ts'
import { type Checkpointer, Checkpoints } from '../pass/checkpoints.ts'
import { Memo } from '../pass/memo.ts'
import type { Outcome } from '../pass/outcome.ts'
import { Pass } from '../pass/pass.ts'
import type { RunningReporter } from '../pass/running-steps.ts'
import { AnswerDelay, type AnswerDelayOptions } from '../run/answer-delay.ts'
import { Cancellation } from '../run/cancellation.ts'
import { LogBuffer } from '../run/log-buffer.ts'
import type { WorkflowEvent } from '../run/run-context.ts'
import { RunReport } from '../run/run-report.ts'
import { type RunnerLog, toConsole } from '../run/runner-log.ts'
import { newMemory, type RunnerMemory } from '../run/runner-memory.ts'
import type { OutletOf } from '../stream/outlet.ts'
import { failedStepOf, reviveError, textOf } from '../wire/errors.ts'
import type { Workflow } from '../workflow/workflow.ts'
import { withinTrace } from './active-trace.ts'
import { type Answer, answerOf, answerRefusal, runEndOf } from './answer.ts'
import { cleanupOf } from './clean-up-run.ts'
import { type AskForPass, lateMessage, mayGoOn, nameOf, watchHandler } from './late-handler.ts'
import { runHandler } from './run-handler.ts'
import type { PassEnvironment } from './run-step.ts'
import { withinPass } from './stray-rejections.ts'
import { createRunContext } from './tools.ts'
import { warn, warnOfLate, warnOfOtherPath, warnOfStray } from './warnings.ts'

/** How a transport runs an invoke. */
export interface InvokeOptions {
  cancellation?: Cancellation | undefined
  /** Makes finished steps durable while the pass continues. Without it, the pass ends when it discovers a step. */
  checkpoint?: Checkpointer | undefined
  /** Whether the pass may report further steps. Default: until it ends. */
  mayReport?: (() => boolean) | undefined
  /** Reports callbacks that run for long, if the engine accepts such notices. */
  running?: RunningReporter | undefined
  /** The runner's middleware, outside the workflow's own. */
  middleware?: readonly Middleware[]
  /** Takes errors that handlers throw outside their steps. Default: the console. */
  log?: RunnerLog | undefined
  /** The time that `ctx.now()` stores. Default: `Date.now`. */
  now?: (() => number) | undefined
  /** The state that the runner keeps from pass to pass. */
  memory?: RunnerMemory | undefined
  /** Receives the chunks of output streams. Without it they are dropped. */
  streams?: OutletOf | undefined
  /** Asks the engine for another pass of a run whose handler continues after the answer. */
  ask?: AskForPass | undefined
}

/** Runs one pass of a workflow: its handler, with `ctx.onFailure` its on-failure handler, or with `ctx.cleanup` a cleanup. */
export async function invoke(
  workflow: Workflow,
  request: InvokeRequest,
  {
    cancellation = new Cancellation(),
    checkpoint,
    mayReport,
    running,
    middleware,
    log = toConsole,
    now = Date.now,
    memory = newMemory(),
    streams,
    ask,
  }: InvokeOptions = {},
): Promise<Answer> {
  const { ctx, event } = request
  if (ctx.onFailure && !workflow.onFailure)
    return answerRefusal(400, `Workflow "${workflow.name}" has no onFailure handler`)
  const logs = new LogBuffer()
  const report = new RunReport(ctx)
  const memo = new Memo(request.steps)
  let isOnOtherPath = false
  const beforeReport = () => {
    if (isOnOtherPath || !memo.hasUncalled) return
    isOnOtherPath = true
    warnOfOtherPath(logs, { pass, memo })
  }
  const delay = delayOf(memory, ctx, logs)
  const checkpoints = checkpoint && new Checkpoints(checkpoint, { logs, report, beforeReport, isOpen: mayReport })
  const pass: Pass = new Pass(memo, {
    checkpoints,
    running: knows(ctx.features, 'running-steps') ? running : undefined,
    handsOver: knows(ctx.features, 'end-with-steps'),
    delay,
    timeoutMs: ctx.invokeTimeoutMs,
  })
  const chain = chainOf(middleware, workflow.middleware)
  const onStray = (stray: unknown) => tellOfStray(stray, { logs, ctx, log })
  const environment: PassEnvironment = {
    pass,
    ctx,
    logs,
    report,
    cancellation,
    eventName: event.name,
    middleware: chain,
    run: {},
    policy: workflow.registration.retry,
    callbacks: memory.callbacks,
    beganAt: knows(ctx.features, 'step-times') ? performance.now() : undefined,
    outletOf: streams,
    onStray,
    now,
  }
  const runContext = createRunContext(environment)
  const call = {
    workflow,
    environment,
    event: event as WorkflowEvent,
    runContext,
    error: ctx.onFailure ? reviveError(ctx.error ?? { message: 'The run failed' }) : undefined,
    cleanUp: cleanupOf({ workflow, request, environment, memo }),
  }
  const run = () => pass.run(() => runHandler(call))
  const ended = withinPass({ pass, onStray, run: environment.run }, () => withinTrace(ctx.traceparent, run))
  cancellation.onCancel(isLate => pass.cancel(isLate))
  const outcome = await ended
  chain.passEnded(runContext, passEndOf(outcome), message => logs.append(logs.root, { level: 'error', message }))
  warn(logs, { pass, memo, outcome })
  logThrown(outcome, message => log('error', `${nameOf(ctx)} ${message}`))
  if (mayGoOn(outcome)) watchHandler({ pass, outcome, ctx, settled: memo.settledCount, delay, memory, log, ask })
  const answer = answerOf(withGiven(outcome, ctx, pass), { logs, report }, pass.called.lastAwaited)
  const end = runEndOf(outcome, { workflow, ctx, status: answer.status, hasStored: checkpoints?.hasStored ?? false })
  if (end) chain.runEnded({ ...(environment.run.args ?? { ...call, ctx: runContext }), end }, log)
  // Callbacks still run after the pass only if it is overdue, or if the run failed or was cancelled: their signal is aborted.
  if (pass.overdue || pass.running > 0)
    cancellation.cancel(pass.overdue ?? new Error('The pass ended without the result of this step'))
  return answer
}

/** Logs the error that a handler threw outside its steps. */
function logThrown(outcome: Outcome, log: (message: string) => void): void {
  if (outcome.kind === 'threw' && failedStepOf(outcome.error) === undefined)
    log(`threw outside its steps: ${textOf(outcome.error)}`)
}

/** Logs a rejected promise that nothing awaits, for the run and for the runner. */
function tellOfStray(stray: unknown, to: { logs: LogBuffer; ctx: InvokeRequest['ctx']; log: RunnerLog }): void {
  warnOfStray(to.logs, stray)
  to.log('error', `${nameOf(to.ctx)} rejected a promise that nothing awaits: ${textOf(stray)}`)
}

/**
 * Keeps the pass open where handlers of its workflow have continued late; undefined if none has. Logs if the run's last pass did.
 */
function delayOf({ late }: RunnerMemory, ctx: InvokeContext, logs: LogBuffer) {
  const { workflow, runId, invokeTimeoutMs: timeoutMs } = ctx
  if (!late.concern(workflow)) return undefined
  const warning = late.takeWarning(runId)
  if (warning !== undefined) warnOfLate(logs, warning)
  const onSaved: AnswerDelayOptions['onSaved'] = (place, wentOn) => warnOfLate(logs, lateMessage(place, wentOn))
  return new AnswerDelay({ workflow, places: late, timeoutMs, onSaved })
}

/** Adds the events that the handler was given to the end of a run, for an engine that delivered events to the run. */
function withGiven(outcome: Outcome, { inbox }: Pick<InvokeContext, 'inbox'>, { waits }: Pass): Outcome {
  if (!inbox || outcome.kind !== 'returned' || outcome.continues) return outcome
  const given = waits.givenAtEnd({ withEvents: true })
  return given ? { ...outcome, given } : outcome
}

/** Converts the outcome of a pass to the type that middleware receives. */
function passEndOf(outcome: Outcome): PassEnd {
  if (outcome.kind === 'threw') return { kind: 'threw', error: outcome.error }
  return { kind: outcome.kind === 'opcodes' ? 'parked' : outcome.kind }
}
