// Flow control as a workflow registers it (decisions, "Flow control at registration"). The engine enforces all of it;
// the SDK only passes it on, so the types are those of the registration. Every `key` and `if` is CEL over `event`; a
// duration is milliseconds or a text such as "30s".

import type { WorkflowRegistration } from '@perdure/protocol'

/** What a registration says beside what the workflow is. */
type Policies = Omit<WorkflowRegistration, 'name' | 'triggers' | 'retry' | 'onFailure'>
type Policy<Name extends keyof Policies> = NonNullable<Policies[Name]>

export type ConcurrencyLimit = Exclude<Policy<'concurrency'>, readonly unknown[]>
export type Throttle = Policy<'throttle'>
export type RateLimit = Policy<'rateLimit'>
export type Debounce = Policy<'debounce'>
export type Batch = Policy<'batch'>
export type Singleton = Policy<'singleton'>
export type Idempotency = Policy<'idempotency'>
export type Timeouts = Policy<'timeouts'>
export type CancelOn = Policy<'cancelOn'>[number]

export interface FlowControl extends Policies {
  /** At most so many runs at once; more wait. Up to three limits, all of which hold. */
  concurrency?: ConcurrencyLimit | ConcurrencyLimit[]
  /** At most so many starts per period; more wait. */
  throttle?: Throttle
  /** At most so many starts per period; more are dropped. */
  rateLimit?: RateLimit
  /** Starts when no further event came for the period. Not together with `batch`. */
  debounce?: Debounce
  /** Collects events: `event.data` is the array of their payloads. */
  batch?: Batch
  /** One run at a time: a further event is skipped, or cancels the run before. */
  singleton?: Singleton
  /** One run per key within the window (24 h). */
  idempotency?: Idempotency
  /** CEL to a number; higher first. */
  priority?: string
  /** How long a run may wait for its first invoke, how long it may take, and how long one invoke may take. */
  timeouts?: Timeouts
  /** Events that cancel a run: `if` sees the run's own as `event` and the arriving one as `async`. */
  cancelOn?: CancelOn[]
}

/**
 * The policies of a workflow with that input. Only a handler that takes an array can be given collected events: with
 * `batch`, and with `debounce` in mode `all`, `event.data` is the array of their payloads.
 */
export type FlowControlOf<Input> = unknown extends Input
  ? FlowControl
  : [Input] extends [readonly unknown[]]
    ? FlowControl
    : Omit<FlowControl, 'batch' | 'debounce'> & {
        batch?: never
        debounce?: Omit<Debounce, 'mode'> & { mode?: 'last' | 'first' }
      }
