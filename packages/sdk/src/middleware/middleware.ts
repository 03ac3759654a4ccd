// Types of middleware: user code around passes and steps, and around every value on its way from and to the engine.

import type { ValueMiddleware } from '@perdure/client'
import type { RunContext, WorkflowEvent } from '../run/run-context.ts'

/** How a pass ended. `parked`: the run waits for steps, and a later pass continues it. */
export type PassEnd =
  | { readonly kind: 'returned' | 'parked' | 'cancelled' }
  | { readonly kind: 'threw'; readonly error: unknown }

/** How a run ended. `continued`: another run goes on with its work (`ctx.continueAs`). */
export type RunEnd = { readonly kind: 'succeeded' | 'continued' } | { readonly kind: 'failed'; readonly error: unknown }

/** The argument of {@link Middleware.onEnd}. */
export interface RunEndCall {
  readonly ctx: RunContext
  /** The event of the handler. */
  readonly event: WorkflowEvent
  readonly end: RunEnd
}

/** The argument of {@link Middleware.wrapRun}. */
export interface RunCall {
  readonly ctx: RunContext
  /** The event after every `transformInput`. Its data is validated inside `next`. */
  readonly event: WorkflowEvent
  /** Runs the inner middleware and the handler; may be called once. Settles with what the handler returns or throws. */
  next(): Promise<unknown>
}

/** The argument of {@link Middleware.wrapStep}. */
export interface StepCall {
  /** `id` identifies the step in the HTTP API. `attempt` counts the attempts of this step, from 1. */
  readonly step: { readonly name: string; readonly id: string; readonly op: 'StepRun'; readonly attempt: number }
  readonly ctx: RunContext
  /** The event of the handler. */
  readonly event: WorkflowEvent
  /** Runs the inner middleware and the callback. Settles with what the callback returns or throws. */
  next(): Promise<unknown>
}

/**
 * Code around the handlers and steps of a workflow, or of all workflows of a runner. The runner's middleware is outside
 * the workflow's, and the first of each list is the outermost. An error that a middleware throws counts as thrown by
 * the step or handler it surrounds.
 */
export interface Middleware extends ValueMiddleware {
  /**
   * Wraps the handler (or the on-failure handler) on **every pass**: a run of ten steps may call it eleven times. On a
   * pass that parks `next()` never settles, also when the handler throws and the step behind the error has to be stored
   * first. So code after it (also a `finally`) runs only on the pass that ends the run or throws, and sees a failure once. Code that every pass needs belongs in {@link onPassEnd}. Waiting before `next()` delays every pass;
   * waiting after it may be cut off.
   */
  wrapRun?(call: RunCall): unknown
  /** Called after every pass, however it ended. It is not awaited; an error it throws is only logged. */
  onPassEnd?(end: { readonly ctx: RunContext; readonly end: PassEnd }): void
  /**
   * Called once per run, by the pass that ends it: its handler returned, or threw and is not tried again. It is called again only if
   * the answer of that pass is lost. It is not awaited; an error it throws is only logged. A run that ends without its handler has no such pass: one
   * that is cancelled or times out, or whose process dies with each pass.
   */
  onEnd?(call: RunEndCall): void
  /**
   * Wraps the callback of a `step.run`, once per attempt, and not when its result is replayed. Its return value is the
   * step's result.
   */
  wrapStep?(call: StepCall): unknown
}
