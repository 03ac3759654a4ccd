// Defining a workflow: its name, what starts it, its policies, and the handler.

import type { RetryPolicy, Trigger, WorkflowRegistration } from '@perdure/protocol'
import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { Batch, Debounce, FlowControl, FlowControlOf } from './flow-control.ts'
import { NAME_CHARS_MAX } from './limits.ts'
import { checkMiddleware } from './middleware/chain.ts'
import type { Middleware } from './middleware/middleware.ts'
import {
  type AnyTrigger,
  type CollectedIn,
  type DataIn,
  type EventIn,
  type EventParser,
  parseBy,
  parseByTriggers,
  readTrigger,
  type SentIn,
  type Typed,
  type WorkflowTrigger,
} from './schema/triggers.ts'
import { isSchema } from './schema/validate.ts'
import type { FailureArgs, WorkflowArgs, WorkflowEvent } from './step-tools.ts'

export type { AnyTrigger, CronData, WorkflowTrigger } from './schema/triggers.ts'

/** What a workflow is: its name, what starts it, its policies. */
export type WorkflowOptions<Input = unknown> = Definition<Input> &
  FlowControlOf<Input> & {
    /** Omitted: an event of the workflow's own name. */
    triggers?: WorkflowTrigger | readonly WorkflowTrigger[]
    input?: never
  }

/**
 * The same with a schema of its input: `event.data` is what the schema makes of the data, whatever started the run. It
 * is validated when a pass begins; data that does not fit fails the run without another try.
 */
export type SchemaWorkflowOptions<Schema extends StandardSchemaV1> = Definition<unknown> &
  FlowControlOf<StandardSchemaV1.InferOutput<Schema>> & {
    input: Schema
    triggers?: AnyTrigger | readonly AnyTrigger[]
  }

/** The same with typed events among its triggers: `event` is the union of what they give. */
export type EventWorkflowOptions<Triggers> = Definition<unknown> &
  FlowControlOf<object> & { triggers: Triggers & Typed<Triggers>; input?: never }

/** The same for a workflow that collects events: `event.data` is the array of their payloads. */
export type CollectingWorkflowOptions<Triggers> = Definition<unknown> &
  Omit<FlowControl, 'batch' | 'debounce'> &
  ({ batch: Batch; debounce?: never } | { debounce: Debounce & { mode: 'all' }; batch?: never }) & {
    triggers: Triggers & Typed<Triggers>
    input?: never
  }

interface Definition<Input> {
  name: string
  /** Attempts and backoff of each step. */
  retry?: RetryPolicy
  /** Around the passes and steps of this workflow, inside the runner's own. The first is the outermost. */
  middleware?: readonly Middleware[]
  /**
   * Called in a run of its own after a run of this workflow failed. The event's data is not validated: that may be why
   * it failed.
   */
  onFailure?: (args: FailureArgs<Input>) => unknown
}

declare const sent: unique symbol

/** A defined workflow, to be served and to be run as a child. `Sent` is what starts it, before its schema. */
export interface Workflow<Input = unknown, Output = unknown, Sent = Input> {
  readonly name: string
  /** What a registration tells the engine (contract §2.11, `workflows[]`). */
  readonly registration: WorkflowRegistration
  readonly middleware?: readonly Middleware[]
  // Methods, so that workflows of every input fit into one list.
  handler(args: WorkflowArgs<Input>): Output | Promise<Output>
  onFailure?(args: FailureArgs<Input>): unknown
  /** The event with its data validated; rejects with an {@link import('./errors.ts').InvalidDataError}. */
  parseEvent?(event: WorkflowEvent): Promise<WorkflowEvent>
  /** For the compiler alone. */
  readonly [sent]?: { takes(data: Sent): void }
}

/**
 * A workflow of any input and result, to be served. It names no more than serving needs, so that a workflow defined by
 * the CommonJS build of the SDK can be served by the ES modules, and the other way round.
 */
export interface AnyWorkflow {
  readonly name: string
  readonly registration: WorkflowRegistration
  handler(args: never): unknown
  onFailure?(args: never): unknown
}

/** Input of a workflow, as its handler receives it. */
export type InputOf<W> = W extends Workflow<infer Input, unknown, never> ? Input : never

/** Data to start a workflow with: what its schema takes. */
export type DataOf<W> = W extends Workflow<never, unknown, infer Sent> ? Sent : never

/** Result of a workflow, as its handler returns it. */
export type OutputOf<W> = W extends Workflow<never, infer Output, never> ? Output : never

/** A handler; annotate its argument as `WorkflowArgs<Input>` and both types of the workflow are inferred. */
export type WorkflowHandler<Input, Output, Event extends WorkflowEvent = WorkflowEvent<Input>> = (
  args: WorkflowArgs<Input, Event>,
) => Output | Promise<Output>

/**
 * Defines a workflow.
 *
 * ```ts
 * const ship = createWorkflow({ name: 'ship' }, async ({ event, step }: WorkflowArgs<Order>) => {
 *   return step.run('label', () => printLabel(event.data))
 * })
 * ```
 *
 * With a schema as `input`, or typed events as `triggers`, the types come from there and the data is validated:
 *
 * ```ts
 * const ship = createWorkflow({ name: 'ship', input: orderSchema }, async ({ event, step }) => ...)
 * const book = createWorkflow({ name: 'book', triggers: [orderPaid, orderRefunded] }, async ({ event }) =>
 *   event.name === 'order/paid' ? event.data.cents : -event.data.refundedCents)
 * ```
 *
 * TypeScript infers either all type arguments or none. `createWorkflow<Order>(options, handler)` therefore
 * leaves the result `unknown` to those who run it as a child; annotate the argument as above, or call
 * `createWorkflow<Order>(options)(handler)`, and the result is inferred too.
 */
export function createWorkflow<Schema extends StandardSchemaV1, Output>(
  options: SchemaWorkflowOptions<Schema>,
  handler: WorkflowHandler<StandardSchemaV1.InferOutput<Schema>, Output>,
): Workflow<StandardSchemaV1.InferOutput<Schema>, Output, StandardSchemaV1.InferInput<Schema>>
export function createWorkflow<const Triggers extends AnyTrigger | readonly AnyTrigger[], Output>(
  options: CollectingWorkflowOptions<Triggers>,
  handler: WorkflowHandler<CollectedIn<Triggers>['data'], Output, CollectedIn<Triggers>>,
): Workflow<CollectedIn<Triggers>['data'], Output, SentIn<Triggers>[]>
export function createWorkflow<const Triggers extends AnyTrigger | readonly AnyTrigger[], Output>(
  options: EventWorkflowOptions<Triggers>,
  handler: WorkflowHandler<DataIn<Triggers>, Output, EventIn<Triggers>>,
): Workflow<DataIn<Triggers>, Output, SentIn<Triggers>>
export function createWorkflow<Input = unknown, Output = unknown>(
  options: WorkflowOptions<Input>,
  handler: WorkflowHandler<Input, Output>,
): Workflow<Input, Output>
export function createWorkflow<Input = unknown>(
  options: WorkflowOptions<Input>,
): <Output>(handler: WorkflowHandler<Input, Output>) => Workflow<Input, Output>
export function createWorkflow(options: Given, handler?: Workflow['handler']) {
  return handler === undefined
    ? (later: Workflow['handler']) => define(options, later)
    : define(options, handler)
}

/** What every overload takes, as the code below sees it. */
type Given = Definition<never> &
  FlowControl & { triggers?: AnyTrigger | readonly AnyTrigger[]; input?: StandardSchemaV1 }

function define(options: Given, handler: Workflow['handler']): Workflow {
  const { name, triggers, onFailure, input, middleware, ...policies } = options
  if (typeof name !== 'string' || name.trim() === '' || name.length > NAME_CHARS_MAX) {
    throw new TypeError(`A workflow's name must be a string of 1 to ${NAME_CHARS_MAX} characters`)
  }
  if (typeof handler !== 'function') throw new TypeError(`Workflow "${name}" has no handler`)
  if (policies.batch && policies.debounce) {
    throw new TypeError(`Workflow "${name}" cannot have both batch and debounce`)
  }
  checkMiddleware(middleware, `Workflow "${name}"`)
  const registration: WorkflowRegistration = { ...policies, name }
  const given = [triggers ?? []].flat()
  if (triggers !== undefined) {
    registration.triggers = given.map(one => checkTrigger(name, readTrigger(one).registered))
  }
  if (onFailure) registration.onFailure = true
  const parseEvent = parserOf(name, input) ?? parseByTriggers(name, given, collects(registration))
  return {
    name,
    registration,
    handler,
    ...(middleware && { middleware }),
    ...(onFailure && { onFailure: onFailure as NonNullable<Workflow['onFailure']> }),
    ...(parseEvent && { parseEvent }),
  }
}

function parserOf(name: string, input: StandardSchemaV1 | undefined): EventParser | undefined {
  if (input === undefined) return undefined
  if (!isSchema(input)) throw new TypeError(`Workflow "${name}": input must be a Standard Schema`)
  return parseBy(name, input)
}

/** Whether the data of a run that events started is the array of their payloads. */
export function collects({ batch, debounce }: WorkflowRegistration): boolean {
  return batch !== undefined || debounce?.mode === 'all'
}

function checkTrigger(workflow: string, trigger: WorkflowTrigger): Trigger {
  const { event, cron } = trigger as Trigger
  const given = [event, cron].filter(value => typeof value === 'string' && value.trim() !== '')
  if (given.length !== 1 || (event !== undefined && cron !== undefined)) {
    throw new TypeError(`A trigger of workflow "${workflow}" needs either an event name or a cron expression`)
  }
  return trigger
}
