// Middleware: code of the user's around passes and steps, and around every value on its way from and to the engine.

import type { RunContext, WorkflowEvent } from '../step-tools.ts'

/** Where a value comes from: the run's event, or the result of a step, a wait or a child. */
export interface InputPlace {
  readonly kind: 'event' | 'step' | 'wait' | 'child'
  /** The step's name; of `event` the event's. */
  readonly name: string
  /** The event's name, of a `wait`. */
  readonly eventName?: string
}

/** Where a value goes to: it is a step's or the run's result, or data of a child, an event or a webhook. */
export interface OutputPlace {
  readonly kind: 'step' | 'result' | 'child' | 'emit' | 'webhook' | 'event'
  /** The step's name; of `result` the workflow's, of `event` (sent by a client) the event's. */
  readonly name: string
  /** The event's name, of an `emit`. */
  readonly eventName?: string
}

/** How a pass ended. `parked`: at steps that a later pass goes on from. */
export type PassEnd =
  | { readonly kind: 'returned' | 'parked' | 'cancelled' }
  | { readonly kind: 'threw'; readonly error: unknown }

/** What {@link Middleware.wrapRun} is given. */
export interface RunCall {
  readonly ctx: RunContext
  /** As the engine sent it, after every `transformInput`; its data is validated inside `next`. */
  readonly event: WorkflowEvent
  /** Runs what is inside, once: resolves with what the handler returns, rejects with what it throws. */
  next(): Promise<unknown>
}

/** What {@link Middleware.wrapStep} is given. */
export interface StepCall {
  readonly step: { readonly name: string; readonly op: 'StepRun' }
  readonly ctx: RunContext
  /** Runs what is inside: resolves with the callback's result, rejects with what it throws. */
  next(): Promise<unknown>
}

/**
 * What surrounds the handlers and steps of a workflow, or of all workflows of a runner. The runner's come first, and of
 * each list the first is the outermost. What a middleware throws counts as thrown by the step or handler it surrounds.
 */
export interface Middleware {
  /** For messages. */
  readonly name: string
  /**
   * Around the handler (or the on-failure handler), on **every pass**: a run of ten steps may call it eleven times. A pass that parks never settles
   * `next()`, so what follows it (a `finally` too) runs only on the pass that ends the run or throws; what every pass
   * needs goes into {@link onPassEnd}. Its own waiting before `next()` delays every pass; after it, it may be cut off.
   */
  wrapRun?(call: RunCall): unknown
  /** After every pass, however it ended. Not waited for; what it throws is logged and changes nothing. */
  onPassEnd?(end: { readonly ctx: RunContext; readonly end: PassEnd }): void
  /**
   * Around the callback of a `step.run`, once per attempt, and not when its result is replayed. What it returns is the
   * step's result.
   */
  wrapStep?(call: StepCall): unknown
  /**
   * Changes a value on its way from the engine to the handler, outermost first. Must be synchronous (the order of a
   * run's steps must not depend on timing) and give the same for the same value. `undefined` is never shown to it.
   * The payloads of a collected event (`batch`) come one by one.
   */
  transformInput?(value: unknown, place: InputPlace): unknown
  /** Changes a value on its way to the engine, innermost first. Synchronous too; what it gives must be JSON. */
  transformOutput?(value: unknown, place: OutputPlace): unknown
}
