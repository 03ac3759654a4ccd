// What a handler is given to work with: the types of `step`, `ctx` and `event`.

import type { Json } from './json.ts'
import type { Logger } from './logger.ts'
import type { EventDefinition, NamesOf, ReceivedOf, SentOf } from './schema/event.ts'
import type { Workflow } from './workflow.ts'

/** Milliseconds, or a number with one of `ms s m h d`, such as `"30s"`. */
export type Duration = number | string

/** The event that started the run: of a child run its `data` is the parent's, of a cron `{cron, scheduledAt}`. */
export interface WorkflowEvent<Data = unknown, Name extends string = string> {
  readonly id?: string
  readonly name: Name
  readonly data: Data
}

/** The event a {@link StepTools.waitForEvent} received. */
export interface ReceivedEvent<Data = unknown, Name extends string = string> {
  readonly id: string
  readonly name: Name
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

/** How one `step.run` deals with failure. */
export interface StepRunOptions {
  /**
   * When the last attempt fails, reject with a {@link StepFailedError} that the handler can catch, instead of
   * failing the run (wire field `catchable`).
   */
  catch?: boolean
}

/** Which event a run waits for, and for how long. */
export interface WaitForEventOptions {
  /** The event's exact name. */
  event: string
  /** Give up after this long. Omitted: wait for ever. */
  timeout?: Duration
  /** CEL over `event` (the run's own) and `async` (the arriving one), such as `async.data.id == event.data.id`. */
  if?: string
}

/** A wait for a typed event. */
export type WaitForDefinedOptions<Event extends EventDefinition> = Omit<WaitForEventOptions, 'event'> & {
  event: Event
}

/** `data` may be left out when what is sent may be undefined or is not declared. */
type DataField<Sent> = undefined extends Sent ? { data?: Sent } : { data: Sent }

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
  /**
   * Parks the run until an event arrives; null when it timed out. The data of a typed event is validated, by a schema
   * that is not asynchronous; what it refuses rejects with an {@link import('./errors.ts').InvalidDataError}.
   */
  waitForEvent<Event extends EventDefinition>(
    name: string,
    options: WaitForDefinedOptions<Event>,
  ): Promise<ReceivedEvent<ReceivedOf<Event>, NamesOf<Event['name']>> | null>
  waitForEvent<Data = unknown>(
    name: string,
    options: WaitForEventOptions,
  ): Promise<ReceivedEvent<Data> | null>
  /**
   * Starts a child run and parks until it ends: its result, or a {@link StepFailedError} with its error. The child
   * validates its input.
   */
  runWorkflow<Sent, Output>(
    name: string,
    options: { workflow: Workflow<never, Output, Sent>; app?: string } & DataField<NoInfer<Sent>>,
  ): Promise<Json<Output>>
  runWorkflow<Output = unknown>(
    name: string,
    options: { workflow: string; data?: unknown; app?: string },
  ): Promise<Output>
  /** Emits an event once. The data of a typed event is validated before, as its receivers will. */
  emit<Event extends EventDefinition>(
    name: string,
    options: { event: Event } & DataField<SentOf<Event>>,
  ): Promise<void>
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
  /**
   * The time in epoch milliseconds, as a step of its own: the same in every pass, where `Date.now()` would differ.
   * Like its two fellows it costs what a step costs, so take what you need once, or together by `Promise.all`.
   */
  now(): Promise<number>
  /** A number from 0 up to 1, as a step of its own. Not for secrets. */
  random(): Promise<number>
  /** A random UUID (version 4), as a step of its own. */
  uuid(): Promise<string>
  readonly webhook: {
    /** A step of its own: posts `data` to `url`, unsigned, retried by the engine. Resolves when it is queued. */
    send(name: string, options: { url: string; data?: unknown }): Promise<void>
  }
}

/** The argument of a handler. */
export interface WorkflowArgs<Input = unknown, Event extends WorkflowEvent = WorkflowEvent<Input>> {
  readonly event: Event
  readonly step: StepTools
  readonly ctx: RunContext
}

/** The argument of an on-failure handler: its event is the failed run's. */
export interface FailureArgs<Input = unknown> extends WorkflowArgs<Input> {
  readonly error: Error
}
