// Types of middleware: user code around passes and steps, and around every value on its way from and to the engine.

import type { RunContext, WorkflowEvent } from '../run/run-context.ts'

/** Origin of a value: the run's event, or the result of a step, a wait or a child. */
export interface InputPlace {
  readonly kind: 'event' | 'step' | 'wait' | 'child'
  /** The step's name; for kind `event`, the event's name. */
  readonly name: string
  /** The event's name, for kind `wait` only. */
  readonly eventName?: string
}

/** Destination of a value: a step's or the run's result, or the data of a child, an event or a webhook. */
export interface OutputPlace {
  readonly kind: 'step' | 'result' | 'child' | 'emit' | 'webhook' | 'event'
  /** The step's name; for kind `result` the workflow's name, for `event` (sent by a client) the event's name. */
  readonly name: string
  /** The event's name, for kind `emit` only. */
  readonly eventName?: string
}

/** How a pass ended. `parked`: the run waits for steps, and a later pass continues it. */
export type PassEnd =
  | { readonly kind: 'returned' | 'parked' | 'cancelled' }
  | { readonly kind: 'threw'; readonly error: unknown }

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
  readonly step: { readonly name: string; readonly op: 'StepRun' }
  readonly ctx: RunContext
  /** Runs the inner middleware and the callback. Settles with what the callback returns or throws. */
  next(): Promise<unknown>
}

/**
 * Code around the handlers and steps of a workflow, or of all workflows of a runner. The runner's middleware is outside
 * the workflow's, and the first of each list is the outermost. An error that a middleware throws counts as thrown by
 * the step or handler it surrounds.
 */
export interface Middleware {
  /** Names the middleware in error messages. */
  readonly name: string
  /**
   * Wraps the handler (or the on-failure handler) on **every pass**: a run of ten steps may call it eleven times. On a
   * pass that parks `next()` never settles, so code after it (also a `finally`) runs only on the pass that ends the run
   * or throws. Code that every pass needs belongs in {@link onPassEnd}. Waiting before `next()` delays every pass;
   * waiting after it may be cut off.
   */
  wrapRun?(call: RunCall): unknown
  /** Called after every pass, however it ended. It is not awaited; an error it throws is only logged. */
  onPassEnd?(end: { readonly ctx: RunContext; readonly end: PassEnd }): void
  /**
   * Wraps the callback of a `step.run`, once per attempt, and not when its result is replayed. Its return value is the
   * step's result.
   */
  wrapStep?(call: StepCall): unknown
  /**
   * Changes a value on its way from the engine to the handler, outermost first. It must be synchronous (the order of a
   * run's steps must not depend on timing) and return the same for the same value. It is never called with `undefined`.
   * The payloads of a collected event (`batch`) are passed one by one.
   */
  transformInput?(value: unknown, place: InputPlace): unknown
  /** Changes a value on its way to the engine, innermost first. It must be synchronous and return JSON. */
  transformOutput?(value: unknown, place: OutputPlace): unknown
}
