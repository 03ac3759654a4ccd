// `createWorkflow()`: defines a workflow by its name, its triggers, its policies and its handler.

import type { Duration } from '@perdure/client'
import { checkMiddleware, eventNameOf, isEventDefinition, isSchema } from '@perdure/client/internal'
import { NAME_CHARS_MAX, type RetryPolicy, type Trigger, type WorkflowRegistration } from '@perdure/protocol'
import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { Middleware } from '../middleware/middleware.ts'
import type { BatchEvent } from '../run/run-context.ts'
import { type DerivedSchema, jsonSchemaOf } from '../schema/input-schema.ts'
import type { Batch, CancelOn, Debounce, FlowControl, FlowControlOf } from './flow-control.ts'
import { checkOptionNames } from './option-names.ts'
import {
  type AnyTrigger,
  type CollectedIn,
  type DataIn,
  type EventIn,
  type FailedIn,
  parseBy,
  parseByTriggers,
  readTrigger,
  type SentIn,
  type Typed,
  type WorkflowTrigger,
} from './triggers.ts'
import type { CancelArgs, FailureArgs, Workflow, WorkflowHandler } from './workflow.ts'

/** Options of a workflow: its name, its triggers and its policies. */
export type WorkflowOptions<Input = unknown> = Definition<Input> &
  FlowControlOf<Input> & {
    /** Default: an event with the name of the workflow. */
    triggers?: WorkflowTrigger | readonly WorkflowTrigger[]
    input?: never
  }

/**
 * Options of a workflow with a schema for its input. `event.data` is the schema's output, no matter what started the run. The
 * data is validated when a pass begins; invalid data fails the run without a retry.
 */
export type SchemaWorkflowOptions<Schema extends StandardSchemaV1> = Definition<StandardSchemaV1.InferInput<Schema>> &
  FlowControlOf<StandardSchemaV1.InferOutput<Schema>> & {
    input: Schema
    triggers?: AnyTrigger | readonly AnyTrigger[]
  }

/** Options of a workflow with typed events among its triggers, or only with schedules. `event` is the union of these events. */
export type EventWorkflowOptions<Triggers> = Definition<FailedIn<Triggers>> &
  FlowControlOf<object> & { triggers: Triggers & Typed<Triggers>; input?: never }

/** Options of a workflow that collects typed events. `event.data` is the array of their payloads, `event.events` the array of the events. */
export type CollectingWorkflowOptions<Triggers> = Definition<FailedIn<Triggers>[]> &
  Collecting & { triggers: Triggers & Typed<Triggers>; input?: never }

/** Options of a workflow that collects events without a type. `event.data` is an array. */
export type UntypedCollectingOptions = Definition<unknown[]> &
  Collecting & { triggers?: WorkflowTrigger | readonly WorkflowTrigger[]; input?: never }

type Collecting = Omit<FlowControl, 'batch' | 'debounce'> &
  ({ batch: Batch; debounce?: never } | { debounce: Debounce & { mode: 'all' }; batch?: never })

/** The limits of a run and all its descendants, by name: at most 16 besides `steps` and `runs`, each up to 1e9 with nine decimals. */
export interface Budget {
  readonly whenExceeded?: 'pause' | 'fail'
  readonly steps?: number
  readonly runs?: number
  readonly [name: string]: number | 'pause' | 'fail' | undefined
}

interface Definition<Input> {
  name: string
  /** Attempts and backoff of each step, and the tries of a handler that throws. */
  retry?: RetryPolicy
  /**
   * How many times a pass that fails outside its steps is tried; with 1 it is not repeated. Default: for a handler that throws,
   * the `maxAttempts` of `retry`, if set; otherwise 8.
   */
  handlerRetries?: number
  /**
   * The outcome of a run when a step has used all its attempts, or a pass has used all its tries. `pause`: the run waits, with
   * its children and its parent, until somebody resumes it; this gives it new attempts and tries. Default: it fails.
   */
  whenExhausted?: 'fail' | 'pause'
  /** How long ended runs of the workflow are kept, by status, instead of the engine's `ENGINE_RETENTION` for that status. */
  retention?: { succeeded?: Duration; failed?: Duration; cancelled?: Duration }
  /**
   * Limits of a run and all its descendants: `{ usd: 5, tokens: 200_000, steps: 500, runs: 50 }`. The engine counts `steps` and
   * `runs`; steps report all other amounts by `spend`. Beyond a limit each run of the tree is paused at its next step boundary
   * until the limit is raised; with `whenExceeded: 'fail'` it fails with the code `budget_exceeded`.
   */
  budget?: Budget
  /** The purpose of the workflow, for the console and for assistants: at most 1,024 characters. */
  description?: string
  /** Offers the workflow to assistants as a tool. It needs an `input` schema whose library gives a JSON Schema. */
  tool?: boolean
  /** First attributes of a run, by which lists find it: each a CEL expression over `event`, such as `event.data.customerId`. */
  attributes?: Readonly<Record<string, string>>
  /** Keys of the attributes that a run of this workflow takes from its parent when it starts as a child. */
  inheritAttributes?: readonly string[]
  /** Middleware around the passes and steps of this workflow, inside the runner's. The first is the outermost. */
  middleware?: readonly Middleware[]
  /**
   * Called in a separate run after a run of this workflow failed. The event's data has the type that senders give it, but it is
   * not validated, because invalid data may have caused the failure.
   */
  onFailure?: (args: FailureArgs<Input>) => unknown
  /**
   * Called in a separate run after a run of this workflow was cancelled, before the rollbacks of its steps. `steps` has the results of
   * the cancelled run by name. The event's data is not validated, as for {@link onFailure}.
   */
  onCancel?: (args: CancelArgs<Input>) => unknown
}

/**
 * Defines a workflow.
 *
 * ```ts
 * const ship = createWorkflow({ name: 'ship' }, async ({ event, step }: WorkflowArgs<Order>) => {
 *   return step.run('label', () => printLabel(event.data))
 * })
 * ```
 *
 * With a schema as `input`, or typed events as `triggers`, the types are inferred from them and the data is validated:
 *
 * ```ts
 * const ship = createWorkflow({ name: 'ship', input: orderSchema }, async ({ event, step }) => ...)
 * const book = createWorkflow({ name: 'book', triggers: [orderPaid, orderRefunded] }, async ({ event }) =>
 *   event.name === 'order/paid' ? event.data.cents : -event.data.refundedCents)
 * ```
 *
 * TypeScript infers either all type arguments or none. With `createWorkflow<Order>(options, handler)` the result is
 * therefore `unknown` to workflows that run this one as a child. Annotate the argument as above, or call
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
export function createWorkflow<Output>(
  options: UntypedCollectingOptions,
  handler: WorkflowHandler<unknown[], Output, BatchEvent>,
): Workflow<unknown[], Output>
export function createWorkflow<Input = unknown, Output = unknown>(
  options: WorkflowOptions<Input>,
  handler: WorkflowHandler<Input, Output>,
): Workflow<Input, Output>
export function createWorkflow<Input = unknown>(
  options: WorkflowOptions<Input>,
): <Output>(handler: WorkflowHandler<Input, Output>) => Workflow<Input, Output>
export function createWorkflow(options: AnyWorkflowOptions, handler?: Workflow['handler']) {
  if (handler !== undefined) return define(options, handler)
  const withHandler = (later: Workflow['handler']) => define(options, later)
  // A runner that gets this function instead of a workflow recognises by its name what is missing.
  return Object.defineProperty(withHandler, 'name', { value: `${WITHOUT_HANDLER}"${options?.name}"` })
}

/** Start of the name of the function that a `createWorkflow` without a handler returns. The workflow's name follows. */
export const WITHOUT_HANDLER = 'workflow without a handler: '

/** The options of every overload, as the implementation sees them. */
type AnyWorkflowOptions = Definition<never> &
  FlowControl & { triggers?: AnyTrigger | readonly AnyTrigger[]; input?: StandardSchemaV1 }

function define(options: AnyWorkflowOptions, handler: Workflow['handler']): Workflow {
  checkOptionNames(options)
  const { name, triggers, onFailure, onCancel, input, middleware, cancelOn, inheritAttributes, budget, ...policies } =
    options
  if (typeof name !== 'string' || name.trim() === '' || name.length > NAME_CHARS_MAX) {
    throw new TypeError(`A workflow's name must be a string of 1 to ${NAME_CHARS_MAX} characters`)
  }
  if (typeof handler !== 'function')
    throw new TypeError(`Workflow "${name}" has no handler${insteadOfHandler(handler)}`)
  if (policies.batch && policies.debounce) {
    throw new TypeError(`Workflow "${name}" cannot have both batch and debounce`)
  }
  checkMiddleware(middleware, `Workflow "${name}"`)
  const registration: WorkflowRegistration = { ...policies, name }
  const given = [triggers ?? []].flat()
  if (triggers !== undefined) {
    registration.triggers = given.map(one => checkTrigger(name, readTrigger(one).registered))
  }
  if (budget) registration.budget = { ...budget } as WorkflowRegistration['budget']
  if (inheritAttributes) registration.inheritAttributes = [...inheritAttributes]
  if (cancelOn) registration.cancelOn = [cancelOn].flat().map(readCancelOn)
  if (onFailure) registration.onFailure = true
  if (onCancel) registration.cleanup = true
  if (input !== undefined && !isSchema(input)) {
    throw new TypeError(`Workflow "${name}": input must be a Standard Schema`)
  }
  const derived = input ? jsonSchemaOf(name, input) : {}
  if (derived.schema) registration.input = derived.schema
  else if (registration.tool) throw new TypeError(withoutTool(name, derived))
  const parseEvent = input ? parseBy(name, input) : parseByTriggers(name, given, collects(registration))
  return {
    name,
    registration,
    handler,
    middleware,
    onFailure: onFailure as Workflow['onFailure'],
    onCancel: onCancel as Workflow['onCancel'],
    parseEvent,
    ...(derived.warning !== undefined && { warning: derived.warning }),
  }
}

/** Returns the reason why a workflow cannot be a tool. */
function withoutTool(name: string, { warning }: DerivedSchema): string {
  const why = warning ?? 'its input schema cannot be converted to JSON Schema'
  return `Workflow "${name}" cannot be a tool: ${why}`
}

/** Describes the value that was given instead of the handler, such as the triggers, as in other engines. */
function insteadOfHandler(given: unknown): string {
  if (typeof given !== 'object' || given === null) return ''
  return ': an object is in its place. Triggers are an option: createWorkflow({ name, triggers }, handler)'
}

/** Converts an event that cancels runs to its registered form. */
function readCancelOn(cancelOn: CancelOn): NonNullable<WorkflowRegistration['cancelOn']>[number] {
  if (isEventDefinition(cancelOn)) return { event: cancelOn.name }
  return { ...cancelOn, event: eventNameOf(cancelOn.event) }
}

/** Whether the workflow collects events: the data of a run is then the array of their payloads. */
export function collects({ batch, debounce }: WorkflowRegistration): boolean {
  return batch !== undefined || debounce?.mode === 'all'
}

function checkTrigger(workflow: string, trigger: WorkflowTrigger): Trigger {
  const { event, cron } = trigger as Trigger
  const given = [event, cron].filter(value => typeof value === 'string' && value.trim() !== '')
  if (given.length !== 1 || (event !== undefined && cron !== undefined)) {
    throw new TypeError(`A trigger of workflow "${workflow}" needs either an event name or a cron expression`)
  }
  const star = event?.indexOf('*') ?? -1
  if (event !== undefined && star !== -1 && star < event.length - 1) {
    throw new TypeError(
      `A trigger of workflow "${workflow}" has a * before its end, where it is not a wildcard: "${event}". ` +
        'End the name with *, and select with `if` over event.name',
    )
  }
  return trigger
}
