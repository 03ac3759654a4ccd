// Runs the callback of a `step.run` with its context and log scope, and encodes its opcode. Called by the step tools.

import { type InvokeContext, STEP_POLICY_FEATURE } from '@perdure/protocol'
import type { MiddlewareChain } from '../middleware/chain.ts'
import { type EncodedOpcode, encodeOpcode } from '../pass/opcode.ts'
import type { Pass } from '../pass/pass.ts'
import type { StepId } from '../pass/step-ids.ts'
import { stepScope } from '../pass/step-scope.ts'
import type { Cancellation } from '../run/cancellation.ts'
import { type LogBuffer, type LogScope, stepLogScope } from '../run/log-buffer.ts'
import { createLogger, type Logger } from '../run/logger.ts'
import type { StepContext } from '../run/run-context.ts'
import type { RunReport } from '../run/run-report.ts'
import { placed } from '../wire/error-place.ts'
import { isNonRetriable, retryAfterMsOf, StepTimeoutError, toStepError } from '../wire/errors.ts'
import { encodePayload } from '../wire/json.ts'
import type { StepRunOptions } from '../workflow/workflow.ts'
import { StepTimeout } from './step-timeout.ts'
import { warnOfLoss } from './warnings.ts'

/** The objects that the parts of one pass share. Built by invoke.ts. */
export interface PassEnvironment {
  readonly pass: Pass
  readonly ctx: InvokeContext
  readonly logs: LogBuffer
  readonly report: RunReport
  readonly cancellation: Cancellation
  readonly middleware: MiddlewareChain
  /** When the pass began, by the monotonic clock; undefined if the engine does not keep the times of steps. */
  readonly beganAt: number | undefined
}

export type StepCallback = (context: StepContext) => unknown

/** Starts a callback at once and returns its opcode when it settles. Never rejects: a failure is an opcode, too. */
export async function runStep(
  environment: PassEnvironment,
  id: StepId,
  call: { callback: StepCallback; options: StepRunOptions | undefined },
): Promise<EncodedOpcode> {
  const logScope = stepLogScope(id)
  const { retry, timeout } = call.options ?? {}
  const limit = timeout === undefined ? undefined : new StepTimeout(id.name, timeout, environment.cancellation)
  const context = contextOf(environment, id, logScope, limit)
  const startedAt = performance.now()
  try {
    const scope = { pass: environment.pass, stepName: id.name, logScope }
    const running = stepScope.run(scope, call.callback, context)
    const result = await (limit ? limit.bound(running) : running)
    const text = encodePayload(result, `The result of step "${id.name}"`)
    warnOfLoss(environment.logs, id, result)
    return encodeOpcode('StepRun', id, measured(environment, startedAt), { field: 'data', text })
  } catch (thrown) {
    const catchable = call.options?.catch === false ? {} : { catchable: true }
    return encodeOpcode('StepRun', id, {
      error: { ...placed(toStepError(thrown), `step "${id.name}"`), ...codeOf(thrown) },
      ...retryOf(thrown),
      ...(retry !== undefined && environment.ctx.features?.includes(STEP_POLICY_FEATURE) ? { retry } : {}),
      ...catchable,
      ...measured(environment, startedAt),
    })
  } finally {
    limit?.clear()
  }
}

/** When the attempt ran, in whole milliseconds from the start of its pass. */
export function measured(
  { beganAt }: Pick<PassEnvironment, 'beganAt'>,
  startedAt: number,
): { offsetMs?: number; durationMs?: number } {
  if (beganAt === undefined) return {}
  return { offsetMs: Math.round(startedAt - beganAt), durationMs: Math.round(performance.now() - startedAt) }
}

function codeOf(thrown: unknown): { code?: string } {
  return thrown instanceof StepTimeoutError ? { code: thrown.code } : {}
}

function retryOf(thrown: unknown): { retriable?: false; retryAfterMs?: number } {
  if (isNonRetriable(thrown)) return { retriable: false }
  const retryAfterMs = retryAfterMsOf(thrown)
  return retryAfterMs === undefined ? {} : { retryAfterMs }
}

/** Creates the signal and the logger on first use, since most callbacks use neither. */
function contextOf(
  { ctx, logs, cancellation }: PassEnvironment,
  id: StepId,
  logScope: LogScope,
  limit: StepTimeout | undefined,
): StepContext {
  let logger: Logger | undefined
  return {
    attempt: ctx.attempt,
    idempotencyKey: `${ctx.runId}:${id.hashedId}`,
    get signal() {
      return limit ? limit.signal : cancellation.signal
    },
    get logger() {
      logger ??= createLogger(logs, () => logScope)
      return logger
    },
  }
}
