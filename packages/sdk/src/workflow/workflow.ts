// Types of workflows and of their handlers: `Workflow` and the durable steps. They share one file because a step can run a
// workflow as a child, and a workflow's handler gets the steps.

import type { Duration, EventDefinition, Json, NamesOf, ReceivedOf, SentOf, WorkflowRef } from '@perdure/client'
import type { Attributes, EventMatch, IfRunning, RetryPolicy, WorkflowRegistration } from '@perdure/protocol'
import type { Middleware } from '../middleware/middleware.ts'
import type { RaceBranch, RaceResult } from '../run/branch.ts'
import type { ReceivedEvent, ReceivedSignal, RunContext, StepContext, WorkflowEvent } from '../run/run-context.ts'
import type { RunFailure } from '../wire/errors.ts'

/** How one `step.run` handles failure: of the step, and then of the run. */
export interface StepRunOptions<Result = unknown> {
  /**
   * With `false` the last failed attempt ends the run at once. By default the call rejects with a
   * {@link StepFailedError}, which the handler may catch; if it does not, the run fails with the step's error.
   */
  catch?: boolean
  /**
   * Attempts and backoff of this step, instead of the workflow's. If neither is set: 5 attempts, after 1 s, doubling up to 5 min.
   */
  retry?: RetryPolicy
  /** Maximum time of one attempt. Then `signal` aborts, and the attempt fails with a {@link StepTimeoutError}. */
  timeout?: Duration
  /**
   * Undoes the step. When the run ends failed or cancelled, the rollbacks of the steps that succeeded run in reverse order, each
   * as its own durable step, `rollback:<name>`, with the retry policy of the workflow.
   */
  rollback?: Rollback<Result>
  /**
   * Name of a limit of the app (`limits` of `connect` and `serve`). Before each attempt the step waits for its turn, durably and
   * in order: steps with this limit start no faster than it allows.
   */
  limit?: string
  /** Steps with different keys do not share their turns: the limit counts each key separately. */
  limitKey?: string
}

/**
 * Undoes a step: gets its stored result, and the context of the callback of the step `rollback:<name>`. The idempotency key is
 * the same for every attempt, and differs from the step's own.
 */
export type Rollback<Result = unknown> = {
  // A method's parameters are bivariant, so that rollbacks of every result fit into one list.
  call(result: Result, context: StepContext): unknown
}['call']

/** How `step.map` handles its items, and how each of their steps handles failure. */
export interface StepMapOptions<Result = unknown> extends Omit<StepRunOptions<Result>, 'catch'> {
  /** Maximum number of items whose steps are under way at once, an integer from 1 on. Default: all. */
  concurrency?: number
  /** With `true` all items are tried, and the result has an outcome for each, as with `Promise.allSettled`. Default: false. */
  settle?: boolean
}

/** The event that a run waits for, and for how long. */
export interface WaitForEventOptions {
  /** The event's exact name. */
  event: string
  /** Maximum wait. Default: no limit. */
  timeout?: Duration
  /** CEL over `event` (the run's own) and `async` (the arriving one), such as `async.data.id == event.data.id`. */
  if?: string
  /**
   * Values that the event must have. A path such as `data.orderId`, or a list of paths: the same values as in the event that
   * started the run. An object: these values, by path. It can be combined with `if`, and finds its event without checking other
   * waits.
   */
  match?: EventMatch
  /** With `now` only events that arrive after the wait was stored count. Default: `run`, all events since the run's creation. */
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
  run<T>(
    name: string,
    callback: (context: StepContext) => T,
    options?: StepRunOptions<NoInfer<Json<Awaited<T>>>>,
  ): Promise<Json<Awaited<T>>>
  /**
   * Runs a callback for each item, as the steps `name:0`, `name:1` and so on. Resolves with the results in the order of the
   * items. The first item that fails for good rejects the call with its {@link StepFailedError}: no further item begins, and the
   * callbacks of the others are aborted through their `signal`.
   */
  map<Item, T>(
    name: string,
    items: readonly Item[],
    callback: (item: Item, index: number, context: StepContext) => T,
    options: StepMapOptions<NoInfer<Json<Awaited<T>>>> & { settle: true },
  ): Promise<PromiseSettledResult<Json<Awaited<T>>>[]>
  map<Item, T>(
    name: string,
    items: readonly Item[],
    callback: (item: Item, index: number, context: StepContext) => T,
    options?: StepMapOptions<NoInfer<Json<Awaited<T>>>> & { settle?: false },
  ): Promise<Json<Awaited<T>>[]>
  /**
   * Calls the branches, which are functions that call steps. Resolves with the name and the value of the branch that settles
   * first, or rejects with its error. The others are cut off: their callbacks are aborted through their `signal`, they call no
   * further step, and results that still arrive for them are ignored. Their sleeps, waits and children end with the run.
   */
  race<Branches extends Readonly<Record<string, RaceBranch>>>(branches: Branches): Promise<RaceResult<Branches>>
  /** Parks the run for a duration. */
  sleep(name: string, duration: Duration): Promise<void>
  /** Parks the run until a time: a Date, epoch milliseconds, or an ISO 8601 string. */
  sleepUntil(name: string, time: Date | number | string): Promise<void>
  /**
   * Parks the run until an event arrives. Resolves with null when the wait timed out. The data of a typed event is validated; its
   * schema must be synchronous. Rejects with an `InvalidDataError` if the schema refuses the data.
   */
  waitForEvent<Event extends EventDefinition>(
    name: string,
    options: WaitForDefinedOptions<Event>,
  ): Promise<ReceivedEvent<ReceivedOf<Event>, NamesOf<Event['name']>> | null>
  waitForEvent<Data = unknown>(name: string, options: WaitForEventOptions): Promise<ReceivedEvent<Data> | null>
  /**
   * Parks the run until somebody sends it a signal or an update of that name. An earlier one that no other wait was given counts
   * too. Resolves with null when the wait timed out.
   */
  waitForSignal<Data = unknown>(name: string, options: WaitForSignalOptions): Promise<ReceivedSignal<Data> | null>
  /**
   * Waits until a run of the namespace has ended, and resolves with its status and its result or error. If the run continued as
   * another run, waits for the last run of the chain. Resolves with null at the timeout. Rejects with a {@link StepFailedError}
   * if there is no such run.
   */
  waitForRun<Result = unknown>(name: string, options: WaitForRunOptions): Promise<AwaitedRun<Result> | null>
  /**
   * Starts a child run and parks until it ends. Resolves with the child's result, or rejects with a {@link StepFailedError} that
   * carries the child's error. The child validates its input.
   */
  runWorkflow<Sent, Output>(
    name: string,
    options: { workflow: Workflow<never, Output, Sent> } & RunWorkflowOptions & DataField<NoInfer<Sent>>,
  ): Promise<Json<Output>>
  runWorkflow<Output = unknown>(
    name: string,
    options: { workflow: string; data?: unknown } & RunWorkflowOptions,
  ): Promise<Output>
  /**
   * Starts a run and continues at once: exactly one run for the step, however often the step is tried. The run outlives its
   * starter. Resolves with its id; `existing` means that a live run with the `key` was found instead. Rejects with a {@link
   * StepFailedError} if nothing is started: its `code` is `already_running` if a live run refuses the start.
   */
  startRun<Sent>(
    name: string,
    options: { workflow: Workflow<never, unknown, Sent> } & StartRunOptions & DataField<NoInfer<Sent>>,
  ): Promise<StartedRun>
  startRun(name: string, options: { workflow: string; data?: unknown } & StartRunOptions): Promise<StartedRun>
  /**
   * Cancels a run of the namespace, its open steps and its children. No error if it has ended. If the run continued as another
   * run, cancels the newest. Rejects with a {@link StepFailedError} if there is no such run.
   */
  cancelRun(name: string, options: { runId: string }): Promise<void>
  /**
   * Emits an event once, or each event of a list of up to 1,000, in the commit of the step. The data of a typed event is
   * validated first, just as its receivers validate it. Resolves with the ids of the events in order.
   */
  emit<Event extends EventDefinition>(
    name: string,
    options: { event: Event } & EmitEventOptions & DataField<SentOf<Event>>,
  ): Promise<EmittedEvents>
  emit(name: string, options: { event: string; data?: unknown } & EmitEventOptions): Promise<EmittedEvents>
  emit(
    name: string,
    events: readonly ({ event: string | EventDefinition; data?: unknown } & EmitEventOptions)[],
  ): Promise<EmittedEvents>
}

/** The signal that a run waits for, and for how long. */
export interface WaitForSignalOptions {
  /** The name of the signal: 1 to 128 letters, digits, `_`, `.`, `:`, `/` or `-`. */
  signal: string
  /** How long to wait; default: for ever. */
  timeout?: Duration
  /** `'now'`: only signals that arrive after the wait was stored count. Default: `'run'`. */
  since?: 'run' | 'now'
}

/** Options of `step.runWorkflow`. */
export interface RunWorkflowOptions {
  /** The app of the workflow. Default: the run's own app if it has the workflow, otherwise the only app that has it. */
  app?: string
  /** After this time the child is cancelled, and the step fails with a `ChildTimeoutError` (code `child_timeout`). Default: no limit. */
  timeout?: Duration
  /** The priority of the child, instead of the one that its workflow gives. */
  priority?: number
}

/** Options of an event that a step emits. */
export interface EmitEventOptions {
  /** The event arrives after this time, at most 366 days later. */
  delay?: Duration
  /** The same, as a time: a Date, epoch milliseconds, or an ISO 8601 string. */
  at?: Date | number | string
  /** A repeat of the id has no effect, as in `POST /events`. */
  dedupeId?: string
  /** Attributes of the runs that the event starts. */
  attributes?: Attributes
  /** Only workflows of this app are started. */
  app?: string
}

/** The events that a step emitted. */
export interface EmittedEvents {
  /** In the order of the events. For a repeat of a `dedupeId`: the id of the first event, or null if that is no longer known. */
  ids: (string | null)[]
}

/** Options of `step.startRun`. */
export interface StartRunOptions {
  /** The app of the workflow. Default: the run's own app if it has the workflow, otherwise the only app that has it. */
  app?: string
  /** A workflow has at most one live run with a key. The key is free again when the run ends. */
  key?: string
  /** How to start while a run with the `key` is live. Default: `use`. */
  ifRunning?: IfRunning
  /** The run goes to a runner after this time. */
  delay?: Duration
  /** The same, as a time: a Date, epoch milliseconds, or an ISO 8601 string. */
  at?: Date | number | string
  /** Attributes of the run, by which lists find it. */
  attributes?: Attributes
}

/** The run that a step started. */
export interface StartedRun {
  runId: string
  /** The run already existed, with the `key` of the start. */
  existing: boolean
}

/** The options of `step.waitForRun`. */
export interface WaitForRunOptions {
  /** The id of the run. */
  runId: string
  /** How long to wait; default: for ever. */
  timeout?: Duration
}

/**
 * The end of a run that a step waited for. The `status` decides whether there is a result or an error. `runId` is the last run of
 * a chain.
 */
export type AwaitedRun<Result = unknown> =
  | {
      readonly runId: string
      readonly status: 'succeeded'
      /** Undefined if the handler returned nothing. */
      readonly result: Result
      readonly error?: undefined
    }
  | { readonly runId: string; readonly status: 'failed'; readonly error: AwaitedError; readonly result?: undefined }
  | { readonly runId: string; readonly status: 'cancelled'; readonly error?: undefined; readonly result?: undefined }

/** The error of a run that a step waited for. */
export interface AwaitedError {
  readonly name?: string
  readonly message: string
  readonly code?: string
  readonly stepName?: string
}

/** The argument of a handler. */
export interface WorkflowArgs<Input = unknown, Event extends WorkflowEvent = WorkflowEvent<Input>> {
  readonly event: Event
  readonly step: StepTools
  readonly ctx: RunContext
}

/** The argument of an on-failure handler. Its event is the event of the failed run. */
export interface FailureArgs<Input = unknown> extends WorkflowArgs<Input> {
  readonly error: RunFailure
}

/** The argument of the handler of cancelled runs. Its event is the event of the cancelled run. */
export interface CancelArgs<Input = unknown> extends WorkflowArgs<Input> {
  /**
   * The results of the steps of the cancelled run that succeeded, by name (`name:n` from the second use of a name on), in the order in
   * which they were stored.
   */
  readonly steps: Readonly<Record<string, unknown>>
}

/** A workflow that can be served and run as a child. `Sent` is the type of the data that starts it, before validation. */
export interface Workflow<Input = unknown, Output = unknown, Sent = Input> extends WorkflowRef<Output, Sent> {
  readonly name: string
  /** The workflow's entry in a registration. */
  readonly registration: WorkflowRegistration
  /** The runner's log shows this once, after the runner has registered. */
  readonly warning?: string
  readonly middleware?: readonly Middleware[]
  // These are methods, whose parameters are bivariant, so that workflows with any input fit into one list.
  handler(args: WorkflowArgs<Input>): Output | Promise<Output>
  onFailure?(args: FailureArgs<Input>): unknown
  onCancel?(args: CancelArgs<Input>): unknown
  /** Returns the event with validated data. Rejects with an `InvalidDataError`. */
  parseEvent?(event: WorkflowEvent): Promise<WorkflowEvent>
}

/**
 * A workflow with any input and result. It declares only the members that serving needs, so that a workflow defined by the
 * CommonJS build of the SDK can be served by the ES modules, and the other way round.
 */
export interface AnyWorkflow {
  readonly name: string
  readonly registration: WorkflowRegistration
  readonly warning?: string
  handler(args: never): unknown
  onFailure?(args: never): unknown
  onCancel?(args: never): unknown
}

/** The input of a workflow, as its handler receives it. */
export type InputOf<W> = W extends Workflow<infer Input, unknown, never> ? Input : never

/** The data that starts a workflow: the input of its schema. */
export type DataOf<W> = W extends Workflow<never, unknown, infer Sent> ? Sent : never

/** The result of a workflow, as its handler returns it. */
export type OutputOf<W> = W extends Workflow<never, infer Output, never> ? Output : never

/** A handler. Annotate its argument as `WorkflowArgs<Input>` to let TypeScript infer both the input and the result type. */
export type WorkflowHandler<Input, Output, Event extends WorkflowEvent = WorkflowEvent<Input>> = (
  args: WorkflowArgs<Input, Event>,
) => Output | Promise<Output>
