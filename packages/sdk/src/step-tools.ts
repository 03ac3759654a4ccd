// Types of a handler's argument: `step`, `ctx` and `event`.

import type { Json } from './json.ts'
import type { Logger } from './logger.ts'
import type { EventDefinition, NamesOf, ReceivedOf, SentOf } from './schema/event.ts'
import type { Workflow } from './workflow.ts'

/** Milliseconds, or a text with a number and one of the units `ms s m h d`, such as `"30s"`. */
export type Duration = number | string

/**
 * The event that started the run. The `data` of a child run is the data its parent passed; the `data` of a scheduled
 * run is `{cron, scheduledAt}`.
 */
export interface WorkflowEvent<Data = unknown, Name extends string = string> {
  readonly id?: string
  readonly name: Name
  readonly data: Data
}

/** The event that a {@link StepTools.waitForEvent} received. */
export interface ReceivedEvent<Data = unknown, Name extends string = string> {
  readonly id: string
  readonly name: Name
  readonly data: Data
  /** RFC 3339. */
  readonly receivedAt: string
}

/** The argument of the callback of a {@link StepTools.run}. */
export interface StepContext {
  /** Aborts when the run is cancelled, or when the pass ends without this step's result. */
  readonly signal: AbortSignal
  /** The run's attempt counter: 1 at first, one more for every retry. */
  readonly attempt: number
  /** The same on every attempt of this step, and different for every other step. Pass it to the services you call. */
  readonly idempotencyKey: string
  /** Writes log lines whose scope is this step's name. */
  readonly logger: Logger
}

/** How one `step.run` handles failure. */
export interface StepRunOptions {
  /**
   * After the last failed attempt, reject with a {@link StepFailedError} that the handler can catch, instead of
   * failing the run. Sent to the engine as `catchable`.
   */
  catch?: boolean
}

/** The event that a run waits for, and for how long. */
export interface WaitForEventOptions {
  /** The event's exact name. */
  event: string
  /** Longest wait. Default: no limit. */
  timeout?: Duration
  /** CEL over `event` (the run's own) and `async` (the arriving one), such as `async.data.id == event.data.id`. */
  if?: string
}

/** Options of a wait for a typed event. */
export type WaitForDefinedOptions<Event extends EventDefinition> = Omit<WaitForEventOptions, 'event'> & {
  event: Event
}

/** The `data` field of an event or child. It is optional when its type includes `undefined`. */
type DataField<Sent> = undefined extends Sent ? { data?: Sent } : { data: Sent }

/**
 * The durable steps of a run. A step is executed once per run; later passes get its stored result. Each further use of
 * a name is another step: `name`, `name:1`, `name:2` in the order of the calls.
 */
export interface StepTools {
  /** Runs a callback and stores its result. Failures are retried by the workflow's retry policy. */
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
   * Parks the run until an event arrives. Resolves with null when the wait timed out. The data of a typed event is
   * validated; its schema must be synchronous. Rejects with an `InvalidDataError` when the
   * schema refuses the data.
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
   * Starts a child run and parks until it ends. Resolves with the child's result, or rejects with a
   * {@link StepFailedError} that has its error. The child validates its input.
   */
  runWorkflow<Sent, Output>(
    name: string,
    options: { workflow: Workflow<never, Output, Sent>; app?: string } & DataField<NoInfer<Sent>>,
  ): Promise<Json<Output>>
  runWorkflow<Output = unknown>(
    name: string,
    options: { workflow: string; data?: unknown; app?: string },
  ): Promise<Output>
  /** Emits an event once. The data of a typed event is validated first, as its receivers validate it. */
  emit<Event extends EventDefinition>(
    name: string,
    options: { event: Event } & DataField<SentOf<Event>>,
  ): Promise<void>
  emit(name: string, options: { event: string; data?: unknown }): Promise<void>
}

/** The run's identity, its logger, and steps whose names the SDK chooses. */
export interface RunContext {
  readonly runId: string
  readonly app: string
  readonly workflow: string
  /** The run's attempt counter: 1 at first, one more for every retry. */
  readonly attempt: number
  /** The runner that this run is pinned to; empty when any runner may serve it. */
  readonly runner: string
  /** W3C trace context of the engine's invoke. */
  readonly traceparent?: string
  /** Logs for the handler, or for the step in whose callback it is used. Each line is stored once, despite replays. */
  readonly logger: Logger
  /**
   * Returns the time in epoch milliseconds, stored as a step: it is the same in every pass, unlike `Date.now()`.
   * Like `random` and `uuid` it costs one step, so call it once, or several together in a `Promise.all`.
   */
  now(): Promise<number>
  /** Returns a number from 0 up to 1, stored as a step. Not for secrets. */
  random(): Promise<number>
  /** Returns a random UUID (version 4), stored as a step. */
  uuid(): Promise<string>
  readonly webhook: {
    /** As a step, posts `data` to `url`, unsigned. The engine retries it. Resolves when the delivery is queued. */
    send(name: string, options: { url: string; data?: unknown }): Promise<void>
  }
}

/** The argument of a handler. */
export interface WorkflowArgs<Input = unknown, Event extends WorkflowEvent = WorkflowEvent<Input>> {
  readonly event: Event
  readonly step: StepTools
  readonly ctx: RunContext
}

/** The argument of an on-failure handler. Its event is the one of the failed run. */
export interface FailureArgs<Input = unknown> extends WorkflowArgs<Input> {
  readonly error: Error
}
