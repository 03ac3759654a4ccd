// Types of middleware: user code around passes and steps, and around every value exchanged with the engine.

import type { ValueMiddleware } from '@perdure/client'
import type { RunContext, WorkflowEvent } from '../run/run-context.ts'

/** How a pass ended. `parked`: the run waits for steps, and a later pass continues the run. */
export type PassEnd =
  | { readonly kind: 'returned' | 'parked' | 'cancelled' }
  | { readonly kind: 'threw'; readonly error: unknown }

/** How a run ended. `continued`: another run continues its work (`ctx.continueAs`). */
export type RunEnd = { readonly kind: 'succeeded' | 'continued' } | { readonly kind: 'failed'; readonly error: unknown }

/** The argument of {@link Middleware.onEnd}. */
export interface RunEndCall {
  readonly ctx: RunContext
  /** The event that the handler gets. */
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
  /** The event that the handler gets. */
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
   * Wraps the handler (or the on-failure handler) on **every pass**: a run of ten steps may call it eleven times. On a pass that
   * parks, `next()` never settles, even if the handler throws and the step behind the error must be stored first. Code after it
   * (including a `finally`) therefore runs only on the pass that ends the run or throws, and sees a failure once. Put code that
   * every pass needs in {@link onPassEnd}. Waiting before `next()` delays every pass; waiting after it may be cut off.
   */
  wrapRun?(call: RunCall): unknown
  /** Called after every pass, however it ended. It is not awaited; an error that it throws is only logged. */
  onPassEnd?(end: { readonly ctx: RunContext; readonly end: PassEnd }): void
  /**
   * Called once per run, by the pass that ends it: the handler returned, or threw and is not retried. It is called again only if
   * the answer of that pass is lost. It is not awaited; an error that it throws is only logged. Some runs end without their
   * handler and have no such pass: runs that are cancelled, that time out, or whose process dies with each pass.
   */
  onEnd?(call: RunEndCall): void
  /**
   * Wraps the callback of a `step.run`, once per attempt, and not when the result is replayed. Its return value is the step's
   * result.
   */
  wrapStep?(call: StepCall): unknown
}
