// One pass of a cleanup run: gives the cleanup the parts of the pass that it needs, and replays the handler of the followed run
// to find its rollbacks. Called by invoke.ts.

import type { CleanupContext, FollowedStep, InvokeRequest } from '@perdure/protocol'
import { cleanUp, type FoundRollbacks } from '../cleanup/clean-up.ts'
import { DryPass, delayUntil } from '../cleanup/dry-pass.ts'
import { resultsOf } from '../cleanup/followed-run.ts'
import type { MiddlewareChain } from '../middleware/chain.ts'
import { Memo } from '../pass/memo.ts'
import type { RunOfPass } from '../pass/pass-scope.ts'
import { LogBuffer } from '../run/log-buffer.ts'
import type { ReceivedEvent, WorkflowEvent } from '../run/run-context.ts'
import { RunReport } from '../run/run-report.ts'
import { isFatal } from '../wire/errors.ts'
import type { Rollback, Workflow, WorkflowArgs } from '../workflow/workflow.ts'
import { runHandler } from './run-handler.ts'
import type { PassEnvironment } from './run-step.ts'
import { withinPass } from './stray-rejections.ts'
import { callRun, createRunContext } from './tools.ts'

/** Maximum time of a replay whose handler awaits something outside of steps. */
const REPLAY_MS_MAX = 30_000
/**
 * How long a replay waits for wanted steps while its handler awaits something outside of steps and another step never settles.
 */
const DELAY_MS = 1_000
/** Number of passes that retry a replay that threw. */
const REPLAYS_MAX = 3
/** Tries of a pass if the workflow sets no number. */
const HANDLER_RETRIES_DEFAULT = 8

interface CleanupPass {
  readonly workflow: Workflow
  readonly request: InvokeRequest
  readonly environment: PassEnvironment
  /** The memo of the cleanup run. */
  readonly memo: Memo
}

/** Returns the handler of a cleanup run; undefined for every other run. */
export function cleanupOf(pass: CleanupPass): ((args: WorkflowArgs) => Promise<void>) | undefined {
  const followed = pass.request.ctx.cleanup
  return followed && (args => cleanUpAfter(pass, followed, args))
}

/** Calls the handler of cancelled runs, if necessary, and the rollbacks of the followed run. */
function cleanUpAfter(cleanupPass: CleanupPass, followed: CleanupContext, args: WorkflowArgs): Promise<void> {
  const { workflow, environment, memo } = cleanupPass
  const { ctx, pass, middleware } = environment
  const onCancel = () =>
    workflow.onCancel?.({ ...args, steps: resultsOf(followed, step => readResult(middleware, step)) })
  // The key of a rollback is derived from the followed run, so that a fork of the cleanup run has the same key.
  const ofFollowed = { ...environment, ctx: { ...ctx, runId: followed.runId } }
  return cleanUp({
    followed,
    onCancel: followed.status === 'cancelled' && workflow.onCancel ? onCancel : undefined,
    mayRepeat: ctx.attempt < Math.min(REPLAYS_MAX, triesOf(workflow)),
    takeId: name => pass.ids.next(name),
    isStored: ({ hashedId }) => memo.knows(hashedId) && memo.hasSettled(hashedId),
    find: wanted => findRollbacks(cleanupPass, followed, wanted),
    run: (id, callback) => callRun(ofFollowed, args.ctx, { called: id, callback }),
    read: (result, name) => middleware.input(result, { kind: 'step', name }),
  })
}

function triesOf({ registration: { handlerRetries, retry } }: Workflow): number {
  const tries = handlerRetries ?? retry?.maxAttempts ?? HANDLER_RETRIES_DEFAULT
  return tries === 'unlimited' ? Number.POSITIVE_INFINITY : tries
}

/** Replays the handler of the followed run against its memo, and collects the rollbacks of the steps that it calls. */
async function findRollbacks(
  { workflow, request, environment }: CleanupPass,
  followed: CleanupContext,
  wanted: ReadonlySet<string>,
): Promise<FoundRollbacks> {
  const { cleanup: _, ...ctx } = request.ctx
  const rollbacks = new Map<string, Rollback>()
  const delay = delayUntil(() => [...wanted].every(id => rollbacks.has(id)), DELAY_MS)
  const timeoutMs = Math.min(REPLAY_MS_MAX, (ctx.invokeTimeoutMs ?? Number.POSITIVE_INFINITY) / 2)
  const pass = new DryPass(new Memo(followed.steps), { delay, timeoutMs })
  const onStray = () => undefined
  const run: RunOfPass = {}
  const dry = {
    ...environment,
    pass,
    ctx: { ...ctx, runId: followed.runId },
    // The followed run has already sent the lines and reports of this replay.
    logs: new LogBuffer(),
    report: new RunReport(ctx),
    rollbacks,
    onStray,
    run,
  }
  const call = { workflow, environment: dry, event: request.event as WorkflowEvent, runContext: createRunContext(dry) }
  const outcome = await withinPass({ pass, onStray, run }, () => pass.run(() => runHandler(call)))
  return { rollbacks, isFinal: outcome.kind !== 'threw' || isFatal(outcome.error) }
}

/** Turns the stored result of a step into the handler's value. */
function readResult(middleware: MiddlewareChain, { op, name, data = null }: FollowedStep): unknown {
  if (op === 'WaitForEvent') {
    const received = data as ReceivedEvent | null
    const place = { kind: 'wait', name, eventName: received?.name } as const
    return received && { ...received, data: middleware.input(received.data, place) }
  }
  if (op === 'WaitForCallback') return data === null ? null : middleware.input(data, { kind: 'callback', name })
  return middleware.input(data, { kind: op === 'RunWorkflow' ? 'child' : 'step', name })
}
