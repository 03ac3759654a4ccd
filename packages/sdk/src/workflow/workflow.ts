// Types of workflows and of their handlers: `Workflow` and the durable steps. They are in one file because a step can run a
// workflow as a child, and a workflow's handler gets the steps.

import type { Duration, EventDefinition, Json, NamesOf, ReceivedOf, SentOf, WorkflowRef } from '@perdure/client'
import type { RetryPolicy, WorkflowRegistration } from '@perdure/protocol'
import type { Middleware } from '../middleware/middleware.ts'
import type { ReceivedEvent, RunContext, StepContext, WorkflowEvent } from '../run/run-context.ts'
import type { RunFailure } from '../wire/errors.ts'

/** How one `step.run` handles failure. */
export interface StepRunOptions {
  /**
   * With `false` the last failed attempt ends the run at once. By default the call rejects with a
   * {@link StepFailedError}, which the handler may catch; if it does not, the run fails with the step's error.
   */
  catch?: boolean
  /** Attempts and backoff of this step, instead of the workflow's. */
  retry?: RetryPolicy
  /** Longest time of one attempt. Then `signal` aborts, and the attempt fails with a {@link StepTimeoutError}. */
  timeout?: Duration
}

/** The event that a run waits for, and for how long. */
export interface WaitForEventOptions {
  /** The event's exact name. */
  event: string
  /** Longest wait. Default: no limit. */
  timeout?: Duration
  /** CEL over `event` (the run's own) and `async` (the arriving one), such as `async.data.id == event.data.id`. */
  if?: string
  /** With `now` only events count that arrive after the wait was stored. Default: `run`, all since the run's creation. */
  since?: 'run' | 'now'
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
  /**
   * Runs a callback and stores its result. Failures are retried by the workflow's retry policy. After the last attempt
   * the call rejects with a {@link StepFailedError}.
   */
  run<T>(name: string, callback: (context: StepContext) => T, options?: StepRunOptions): Promise<Json<Awaited<T>>>
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
  waitForEvent<Data = unknown>(name: string, options: WaitForEventOptions): Promise<ReceivedEvent<Data> | null>
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
  emit<Event extends EventDefinition>(name: string, options: { event: Event } & DataField<SentOf<Event>>): Promise<void>
  emit(name: string, options: { event: string; data?: unknown }): Promise<void>
}

/** The argument of a handler. */
export interface WorkflowArgs<Input = unknown, Event extends WorkflowEvent = WorkflowEvent<Input>> {
  readonly event: Event
  readonly step: StepTools
  readonly ctx: RunContext
}

/** The argument of an on-failure handler. Its event is the one of the failed run. */
export interface FailureArgs<Input = unknown> extends WorkflowArgs<Input> {
  readonly error: RunFailure
}

/** A workflow that can be served and run as a child. `Sent` is the type of the data that starts it, before validation. */
export interface Workflow<Input = unknown, Output = unknown, Sent = Input> extends WorkflowRef<Output, Sent> {
  readonly name: string
  /** The workflow's entry in a registration. */
  readonly registration: WorkflowRegistration
  readonly middleware?: readonly Middleware[]
  // These are methods, whose parameters are bivariant, so that workflows of every input fit into one list.
  handler(args: WorkflowArgs<Input>): Output | Promise<Output>
  onFailure?(args: FailureArgs<Input>): unknown
  /** Returns the event with validated data. Rejects with an `InvalidDataError`. */
  parseEvent?(event: WorkflowEvent): Promise<WorkflowEvent>
}

/**
 * A workflow of any input and result. It declares only what serving needs, so that a workflow defined by the CommonJS
 * build of the SDK can be served by the ES modules, and the other way round.
 */
export interface AnyWorkflow {
  readonly name: string
  readonly registration: WorkflowRegistration
  handler(args: never): unknown
  onFailure?(args: never): unknown
}

/** The input of a workflow, as its handler receives it. */
export type InputOf<W> = W extends Workflow<infer Input, unknown, never> ? Input : never

/** The data that starts a workflow: the input of its schema. */
export type DataOf<W> = W extends Workflow<never, unknown, infer Sent> ? Sent : never

/** The result of a workflow, as its handler returns it. */
export type OutputOf<W> = W extends Workflow<never, infer Output, never> ? Output : never

/** A handler. Annotate its argument as `WorkflowArgs<Input>`, and the input and the result type are both inferred. */
export type WorkflowHandler<Input, Output, Event extends WorkflowEvent = WorkflowEvent<Input>> = (
  args: WorkflowArgs<Input, Event>,
) => Output | Promise<Output>
