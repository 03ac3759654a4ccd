// Defining a workflow: its name, what starts it, its policies, and the handler.

import type { RetryPolicy, Trigger, WorkflowRegistration } from '@perdure/protocol'
import type { FlowControlOf } from './flow-control.ts'
import { NAME_CHARS_MAX } from './limits.ts'
import type { FailureArgs, WorkflowArgs } from './step-tools.ts'

/** What starts a run: an event (its name may end in `*`, `if` is CEL over `event`), or a schedule. */
export type WorkflowTrigger = { event: string; if?: string } | { cron: string }

/** What a workflow is: its name, what starts it, its policies. */
export type WorkflowOptions<Input = unknown> = Definition<Input> & FlowControlOf<Input>

interface Definition<Input> {
  name: string
  /** Omitted: an event of the workflow's own name. */
  triggers?: WorkflowTrigger | readonly WorkflowTrigger[]
  /** Attempts and backoff of each step. */
  retry?: RetryPolicy
  /** Called in a run of its own after a run of this workflow failed. */
  onFailure?: (args: FailureArgs<Input>) => unknown
}

/** A defined workflow, to be served and to be run as a child. */
export interface Workflow<Input = unknown, Output = unknown> {
  readonly name: string
  /** What a registration tells the engine (contract §2.11, `workflows[]`). */
  readonly registration: WorkflowRegistration
  // Methods, so that workflows of every input fit into one list.
  handler(args: WorkflowArgs<Input>): Output | Promise<Output>
  onFailure?(args: FailureArgs<Input>): unknown
}

/** Input data of a workflow. */
export type InputOf<W> = W extends Workflow<infer Input, unknown> ? Input : never

/** Result of a workflow, as its handler returns it. */
export type OutputOf<W> = W extends Workflow<never, infer Output> ? Output : never

/** A handler; annotate its argument as `WorkflowArgs<Input>` and both types of the workflow are inferred. */
export type WorkflowHandler<Input, Output> = (args: WorkflowArgs<Input>) => Output | Promise<Output>

/**
 * Defines a workflow.
 *
 * ```ts
 * const ship = createWorkflow({ name: 'ship' }, async ({ event, step }: WorkflowArgs<Order>) => {
 *   return step.run('label', () => printLabel(event.data))
 * })
 * ```
 *
 * TypeScript infers either all type arguments or none. `createWorkflow<Order>(options, handler)` therefore
 * leaves the result `unknown` to those who run it as a child; annotate the argument as above, or call
 * `createWorkflow<Order>(options)(handler)`, and the result is inferred too.
 */
export function createWorkflow<Input = unknown, Output = unknown>(
  options: WorkflowOptions<Input>,
  handler: WorkflowHandler<Input, Output>,
): Workflow<Input, Output>
export function createWorkflow<Input = unknown>(
  options: WorkflowOptions<Input>,
): <Output>(handler: WorkflowHandler<Input, Output>) => Workflow<Input, Output>
export function createWorkflow<Input, Output>(
  options: WorkflowOptions<Input>,
  handler?: WorkflowHandler<Input, Output>,
) {
  return handler === undefined
    ? (later: WorkflowHandler<Input, Output>) => define(options, later)
    : define(options, handler)
}

function define<Input, Output>(
  options: WorkflowOptions<Input>,
  handler: WorkflowHandler<Input, Output>,
): Workflow<Input, Output> {
  const { name, triggers, onFailure, ...policies } = options
  if (typeof name !== 'string' || name.trim() === '' || name.length > NAME_CHARS_MAX) {
    throw new TypeError(`A workflow's name must be a string of 1 to ${NAME_CHARS_MAX} characters`)
  }
  if (typeof handler !== 'function') throw new TypeError(`Workflow "${name}" has no handler`)
  if (policies.batch && policies.debounce) {
    throw new TypeError(`Workflow "${name}" cannot have both batch and debounce`)
  }
  const registration: WorkflowRegistration = { ...policies, name }
  if (triggers !== undefined) registration.triggers = [triggers].flat().map(one => checkTrigger(name, one))
  if (onFailure) registration.onFailure = true
  return { name, registration, handler, ...(onFailure && { onFailure }) }
}

function checkTrigger(workflow: string, trigger: WorkflowTrigger): Trigger {
  const { event, cron } = trigger as Trigger
  const given = [event, cron].filter(value => typeof value === 'string' && value.trim() !== '')
  if (given.length !== 1 || (event !== undefined && cron !== undefined)) {
    throw new TypeError(`A trigger of workflow "${workflow}" needs either an event name or a cron expression`)
  }
  return trigger
}
