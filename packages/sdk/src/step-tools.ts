// What a handler is given to work with: the types of `step`, `ctx` and `event`.

import type { Json } from './json.ts'
import type { Logger } from './logger.ts'
import type { Workflow } from './workflow.ts'

/** Milliseconds, or a number with one of `ms s m h d`, such as `"30s"`. */
export type Duration = number | string

/** The event that started the run: of a child run its `data` is the parent's, of a cron `{cron, scheduledAt}`. */
export interface WorkflowEvent<Data = unknown> {
  readonly id?: string
  readonly name: string
  readonly data: Data
}

/** The event a {@link StepTools.waitForEvent} received. */
export interface ReceivedEvent<Data = unknown> {
  readonly id: string
  readonly name: string
  readonly data: Data
  /** RFC 3339. */
  readonly receivedAt: string
}

/** What the callback of a {@link StepTools.run} receives. */
export interface StepContext {
  /** Aborts when the run is cancelled, or the pass ends without this step's result. */
  readonly signal: AbortSignal
  /** The run's attempt counter: 1 at first, one more for every repetition. */
  readonly attempt: number
  /** The same on every attempt of this step and different for every other: hand it to services you call. */
  readonly idempotencyKey: string
  /** Lines carry this step's name as their scope. */
  readonly logger: Logger
}

export interface StepRunOptions {
  /**
   * When the last attempt fails, reject with a {@link StepFailedError} that the handler can catch, instead of
   * failing the run (wire field `catchable`).
   */
  catch?: boolean
}

export interface WaitForEventOptions {
  /** The event's exact name. */
  event: string
  /** Give up after this long. Omitted: wait for ever. */
  timeout?: Duration
  /** CEL over `event` (the run's own) and `async` (the arriving one), such as `async.data.id == event.data.id`. */
  if?: string
}

/** `data` may be left out when the workflow's input may be undefined or is not declared. */
type DataOf<Input> = undefined extends Input ? { data?: Input } : { data: Input }

/**
 * The durable steps of a run (contract §2.11). A step happens once per run; later passes get its stored result.
 * A name used again means another step: `name`, `name:1`, `name:2` in the order of the calls.
 */
export interface StepTools {
  /** Runs a callback and stores its result. A failure is retried by the workflow's policy. */
  run<T>(
    name: string,
    callback: (context: StepContext) => T,
    options?: StepRunOptions,
  ): Promise<Json<Awaited<T>>>
  /** Parks the run for a duration. */
  sleep(name: string, duration: Duration): Promise<void>
  /** Parks the run until a time: a Date, epoch milliseconds, or an ISO 8601 string. */
  sleepUntil(name: string, time: Date | number | string): Promise<void>
  /** Parks the run until an event arrives; null when it timed out. */
  waitForEvent<Data = unknown>(
    name: string,
    options: WaitForEventOptions,
  ): Promise<ReceivedEvent<Data> | null>
  /** Starts a child run and parks until it ends: its result, or a {@link StepFailedError} with its error. */
  runWorkflow<Input, Output>(
    name: string,
    options: { workflow: Workflow<Input, Output>; app?: string } & DataOf<NoInfer<Input>>,
  ): Promise<Json<Output>>
  runWorkflow<Output = unknown>(
    name: string,
    options: { workflow: string; data?: unknown; app?: string },
  ): Promise<Output>
  /** Emits an event once. */
  emit(name: string, options: { event: string; data?: unknown }): Promise<void>
}

/** What is known of the run, and what is not a step of its own control flow. */
export interface RunContext {
  readonly runId: string
  readonly app: string
  readonly workflow: string
  /** The run's attempt counter, from 1. */
  readonly attempt: number
  /** The runner this run is pinned to; empty when any may serve it. */
  readonly runner: string
  /** W3C trace context of the engine's invoke. */
  readonly traceparent?: string
  /** Lines of the handler, or of the step inside whose callback it is used. Stored once, however often replayed. */
  readonly logger: Logger
  readonly webhook: {
    /** A step of its own: posts `data` to `url`, unsigned, retried by the engine. Resolves when it is queued. */
    send(name: string, options: { url: string; data?: unknown }): Promise<void>
  }
}

/** The argument of a handler. */
export interface WorkflowArgs<Input = unknown> {
  readonly event: WorkflowEvent<Input>
  readonly step: StepTools
  readonly ctx: RunContext
}

/** The argument of an on-failure handler: its event is the failed run's. */
export interface FailureArgs<Input = unknown> extends WorkflowArgs<Input> {
  readonly error: Error
}
