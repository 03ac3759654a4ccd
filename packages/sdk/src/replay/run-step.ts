// Runs the callback of a `step.run` with its context and log scope, and encodes its opcode. Called by the step tools.

import { NonRetriableError, type OutputPlace } from '@perdure/client'
import { isThenable } from '@perdure/client/internal'
import { type InvokeContext, knows, positionalStepId, type RetryPolicy, STEP_ATTEMPTS_DEFAULT } from '@perdure/protocol'
import type { MiddlewareChain } from '../middleware/chain.ts'
import type { RunningCallback } from '../pass/discoveries.ts'
import { type EncodedOpcode, encodeOpcode } from '../pass/opcode.ts'
import type { Pass } from '../pass/pass.ts'
import { passScope, type RunOfPass } from '../pass/pass-scope.ts'
import type { StepId } from '../pass/step-ids.ts'
import { blockedMsSince, stepBegins } from '../run/blocked-loop.ts'
import type { Cancellation } from '../run/cancellation.ts'
import { type LogBuffer, type LogScope, stepLogScope } from '../run/log-buffer.ts'
import { createLogger, type Logger } from '../run/logger.ts'
import type { OutputStream } from '../run/output-stream.ts'
import type { StepContext } from '../run/run-context.ts'
import type { RunReport } from '../run/run-report.ts'
import type { CallbacksUnderWay } from '../run/runner-memory.ts'
import { type Amounts, Spent } from '../run/spent.ts'
import type { OutletOf } from '../stream/outlet.ts'
import { StepStreams } from '../stream/step-streams.ts'
import { placed } from '../wire/error-place.ts'
import { retryAfterMsOf, toStepError } from '../wire/errors.ts'
import { encodePayload } from '../wire/json.ts'
import type { Rollback, StepRunOptions } from '../workflow/workflow.ts'
import { sentRetry } from './step-options.ts'
import { StepTimeout } from './step-timeout.ts'
import { warnOfBlock, warnOfDroppedChunks, warnOfLoss } from './warnings.ts'

/** The objects that the parts of one pass share. Built by invoke.ts. */
export interface PassEnvironment {
  readonly pass: Pass
  readonly ctx: InvokeContext
  readonly logs: LogBuffer
  readonly report: RunReport
  readonly cancellation: Cancellation
  readonly middleware: MiddlewareChain
  readonly run: RunOfPass
  /** The callbacks of the runner that are under way. */
  readonly callbacks: CallbacksUnderWay
  /** The retry policy of the workflow's steps. */
  readonly policy: RetryPolicy | undefined
  /** When the pass began, by the monotonic clock; undefined if the engine does not store the times of steps. */
  readonly beganAt: number | undefined
  /** Name of the event that the run's handler gets. */
  readonly eventName: string
  /** The time that `ctx.now()` stores. */
  readonly now: () => number
  /** Where the chunks of output streams go. */
  readonly outletOf: OutletOf | undefined
  /** Receives rejections that nothing awaits. */
  readonly onStray: (error: unknown) => void
  /** Receives the rollbacks of the steps that the handler calls, by hashed id; undefined if nobody looks for them. */
  readonly rollbacks?: Map<string, Rollback>
}

/** Encodes the data of a step after its middleware. */
export function payloadText({ middleware }: PassEnvironment, data: unknown, place: OutputPlace): string | undefined {
  return encodePayload(middleware.output(data, place), `The data of step "${place.name}"`)
}

/** A step that blocks the event loop for at least this long is named in the log of its run. */
const BLOCKED_MS_MIN = 5_000

export type StepCallback = (context: StepContext) => unknown

interface StepCall {
  callback: StepCallback
  options: StepRunOptions | undefined
}

/** The attempts that started the running callbacks. */
const BEGUN_BY = new WeakMap<Promise<unknown>, StepAttempt>()

/** One attempt of a step. Its callback starts at once. */
export class StepAttempt implements RunningCallback {
  readonly id: StepId
  readonly startedAt = performance.now()
  readonly opcode: Promise<EncodedOpcode>
  readonly #environment: PassEnvironment
  readonly #options: StepRunOptions | undefined
  /** The amounts that the callback spends, until the attempt reports them. */
  readonly spent: Spent
  /** Created when the callback asks for a stream. */
  #streams: StepStreams | undefined
  /** The engine accepts no more chunks of the attempt. */
  #isGone = false
  #isOver = false
  /** Aborts only this attempt. Created when the callback asks for its signal, or when the attempt is aborted. */
  #own: AbortController | undefined

  constructor(environment: PassEnvironment, id: StepId, { callback, options }: StepCall) {
    this.id = id
    this.#environment = environment
    this.#options = options
    this.spent = new Spent(id.name, environment.ctx.features)
    this.opcode = this.#run(callback)
  }

  giveUp(error: Error): EncodedOpcode {
    this.#isOver = true
    this.#streams?.end(error)
    return this.#failed(error)
  }

  abort(reason: Error): void {
    this.#isOver = true
    this.#own ??= new AbortController()
    this.#own.abort(reason)
  }

  /** The signal of the callback, which aborts with this attempt, and with the pass or the timeout. */
  signalWith({ signal }: Pick<Cancellation, 'signal'>): AbortSignal {
    this.#own ??= new AbortController()
    return AbortSignal.any([this.#own.signal, signal])
  }

  /** Whether readers may have received chunks of the attempt. */
  get hasSentChunks(): boolean {
    return this.#streams?.areSent ?? false
  }

  /** Returns the stream of this name. `context` is the callback's. */
  stream(name: string, context: Pick<StepContext, 'signal'>): OutputStream {
    this.#streams ??= this.#openStreams(context.signal)
    return this.#streams.of(name)
  }

  #openStreams(signal: AbortSignal): StepStreams {
    const { ctx, logs, pass, outletOf } = this.#environment
    const { hashedId: stepId, name, use } = this.id
    const isKnown = knows(ctx.features, 'streams')
    const outlet = isKnown ? outletOf?.(ctx) : undefined
    if (!outlet) warnOfDroppedChunks(logs, isKnown)
    return new StepStreams({
      stepId,
      step: positionalStepId(name, use),
      outlet,
      signal,
      onAppended: () => pass.timers.restart(),
      onGone: () => {
        this.#isGone = true
        this.abort(new Error(`The engine expects nothing more of step "${name}" from this pass`))
      },
    })
  }

  /**
   * Waits until the chunks are durable. If the run was cancelled in the meantime, the result is stored without them, and undone.
   */
  async #flush(streams: StepStreams): Promise<void> {
    try {
      await streams.flush()
    } catch (error) {
      if (!this.#isGone && !this.#environment.cancellation.cancelled) throw error
    }
  }

  async #run(callback: StepCallback): Promise<EncodedOpcode> {
    const { logs, cancellation } = this.#environment
    const { id, startedAt } = this
    const logScope = stepLogScope(id)
    const { retry, timeout } = this.#options ?? {}
    const limit = timeout === undefined ? undefined : new StepTimeout(id.name, timeout, cancellation)
    const context = new CallbackContext(this.#environment, this, { id, logScope, limit, retry })
    try {
      const running = this.#alone(callback, context, logScope)
      const result = await (limit ? limit.bound(running) : running)
      const text = encodePayload(result, `The result of step "${id.name}"`)
      warnOfLoss(logs, id, result)
      if (this.#streams) await this.#flush(this.#streams)
      const undoable = this.#options?.rollback === undefined ? {} : { rollback: true }
      return encodeOpcode(
        'StepRun',
        id,
        { ...undoable, ...this.spent.take(), ...measured(this.#environment, startedAt) },
        { field: 'data', text },
      )
    } catch (thrown) {
      return this.#failed(thrown)
    } finally {
      this.#isOver = true
      this.#streams?.end(new Error(`Step "${id.name}" has ended: its streams take no more chunks`))
      const blockedMs = blockedMsSince(startedAt)
      if (blockedMs >= BLOCKED_MS_MIN) warnOfBlock(logs, id, blockedMs)
      limit?.clear()
    }
  }

  /** Calls the callback, unless an earlier attempt has left it running in this process: one execution at a time. */
  #alone(callback: StepCallback, context: StepContext, logScope: LogScope): unknown {
    const { pass, onStray, run, callbacks } = this.#environment
    const key = context.idempotencyKey
    const earlier = callbacks.get(key)
    if (earlier) return this.#takeOver(earlier, key, () => this.#alone(callback, context, logScope))
    stepBegins(this.id.name)
    const scope = { pass, onStray, run, step: { stepName: this.id.name, logScope } }
    const returned = passScope.run(scope, callback, context)
    if (!isThenable(returned)) return returned
    const running = Promise.resolve(returned)
    callbacks.set(key, running)
    BEGUN_BY.set(running, this)
    const ended = () => void callbacks.delete(key)
    running.then(ended, ended)
    return running
  }

  /**
   * Waits for the callback of an earlier attempt, and takes its result, unless it wrote to streams. A failure counted for the
   * earlier attempt: the callback runs again.
   */
  async #takeOver(earlier: Promise<unknown>, key: string, runAgain: () => unknown): Promise<unknown> {
    const { callbacks, cancellation } = this.#environment
    const late = await earlier.then(
      value => ({ value }),
      () => undefined,
    )
    const begunBy = BEGUN_BY.get(earlier)
    this.spent.takeFrom(begunBy?.spent)
    // The chunks of the earlier attempt are withdrawn: its result, stored now, would lack its chunks.
    if (late && !begunBy?.hasSentChunks) return late.value
    if (callbacks.get(key) === earlier) callbacks.delete(key)
    // Nobody waits for this attempt any more: a later attempt runs the callback.
    if (this.#isOver || cancellation.cancelled) return undefined
    return runAgain()
  }

  #failed(thrown: unknown): EncodedOpcode {
    const { retry, catch: isCaught } = this.#options ?? {}
    return encodeOpcode('StepRun', this.id, {
      error: placed(toStepError(thrown), `step "${this.id.name}"`),
      ...retryOf(thrown),
      ...(retry !== undefined && { retry: sentRetry(retry, this.#environment.ctx.features) }),
      ...(isCaught === false ? {} : { catchable: true }),
      ...this.spent.take(),
      ...measured(this.#environment, this.startedAt),
    })
  }
}

/** Returns when the attempt ran, in whole milliseconds from the start of its pass. */
export function measured(
  { beganAt }: Pick<PassEnvironment, 'beganAt'>,
  startedAt: number,
): { offsetMs?: number; durationMs?: number } {
  if (beganAt === undefined) return {}
  return { offsetMs: Math.round(startedAt - beganAt), durationMs: Math.round(performance.now() - startedAt) }
}

function retryOf(thrown: unknown): { retriable?: false; retryAfterMs?: number } {
  if (thrown instanceof NonRetriableError) return { retriable: false }
  const retryAfterMs = retryAfterMsOf(thrown)
  return retryAfterMs === undefined ? {} : { retryAfterMs }
}

/**
 * The argument of a callback. It is a class, because V8 makes a hidden class for each object literal with a getter, which keeps
 * the whole pass until a full collection. The signal is created on first use: most callbacks use none.
 */
class CallbackContext implements StepContext {
  readonly attempt: number
  readonly maxAttempts: number
  readonly idempotencyKey: string
  readonly logger: Logger
  readonly spend: (amounts: Amounts) => void
  readonly #running: StepAttempt
  readonly #cancelled: Pick<Cancellation | StepTimeout, 'signal'>
  #signal: AbortSignal | undefined

  constructor(
    { ctx, logs, cancellation, policy }: PassEnvironment,
    running: StepAttempt,
    { id, logScope, limit, retry }: Attempt,
  ) {
    this.#running = running
    const { hashedId } = id
    // An engine that does not count step attempts for its runners gives those of the run, as before.
    const isCounted = knows(ctx.features, 'memo-attempt')
    this.attempt = isCounted ? (ctx.stepAttempts?.[hashedId] ?? 1) : ctx.attempt
    const { maxAttempts = STEP_ATTEMPTS_DEFAULT } = retry ?? policy ?? {}
    const isUnlimited = maxAttempts === 'unlimited'
    this.maxAttempts = isUnlimited ? Number.POSITIVE_INFINITY : maxAttempts + (ctx.spentAttempts?.[hashedId] ?? 0)
    this.idempotencyKey = `${ctx.runId}:${id.hashedId}`
    this.logger = createLogger(logs, () => logScope)
    this.spend = amounts => running.spent.add(amounts)
    this.#cancelled = limit ?? cancellation
  }

  get stream(): (name: string) => OutputStream {
    return name => this.#running.stream(name, this)
  }

  get signal(): AbortSignal {
    this.#signal ??= this.#running.signalWith(this.#cancelled)
    return this.#signal
  }
}

/** One attempt of a step. */
interface Attempt {
  readonly id: StepId
  readonly logScope: LogScope
  readonly limit: StepTimeout | undefined
  readonly retry: RetryPolicy | undefined
}
