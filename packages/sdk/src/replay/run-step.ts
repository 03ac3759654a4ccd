// Runs the callback of a `step.run` with its context and log scope, and encodes its opcode. Called by the step tools.

import { type InvokeContext, STEP_POLICY_FEATURE } from '@perdure/protocol'
import type { MiddlewareChain } from '../middleware/chain.ts'
import { type EncodedOpcode, encodeOpcode } from '../pass/opcode.ts'
import type { Pass } from '../pass/pass.ts'
import { passScope } from '../pass/pass-scope.ts'
import type { StepId } from '../pass/step-ids.ts'
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
  /** Takes a rejection that nothing awaits. */
  readonly onStray: (error: unknown) => void
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
  const context = new CallbackContext(environment, { id, logScope, limit })
  const startedAt = performance.now()
  try {
    const { pass, onStray } = environment
    const scope = { pass, onStray, step: { stepName: id.name, logScope } }
    const running = passScope.run(scope, call.callback, context)
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

/**
 * The argument of a callback. It is a class, since V8 makes a hidden class for each object literal with a getter, which
 * keeps the whole pass until a full collection. The signal is made on first use: most callbacks use none.
 */
class CallbackContext implements StepContext {
  readonly attempt: number
  readonly idempotencyKey: string
  readonly logger: Logger
  readonly #cancelled: Pick<Cancellation | StepTimeout, 'signal'>

  constructor({ ctx, logs, cancellation }: PassEnvironment, { id, logScope, limit }: Attempt) {
    this.attempt = ctx.attempt
    this.idempotencyKey = `${ctx.runId}:${id.hashedId}`
    this.logger = createLogger(logs, () => logScope)
    this.#cancelled = limit ?? cancellation
  }

  get signal(): AbortSignal {
    return this.#cancelled.signal
  }
}

/** One attempt of a step. */
interface Attempt {
  readonly id: StepId
  readonly logScope: LogScope
  readonly limit: StepTimeout | undefined
}
