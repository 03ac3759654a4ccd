// Flow control as a workflow registers it (decisions, "Flow control at registration"). The engine enforces all of it;
// the SDK only passes it on, so the types are those of the registration. Every `key` and `if` is CEL over `event`; a
// duration is milliseconds or a text such as "30s".

import type { WorkflowRegistration } from '@perdure/protocol'

/** What a registration says beside what the workflow is. */
type Policies = Omit<WorkflowRegistration, 'name' | 'triggers' | 'retry' | 'onFailure'>
type Policy<Name extends keyof Policies> = NonNullable<Policies[Name]>

/** At most `limit` runs at once; of one `key`, counted over what `scope` says. */
export type ConcurrencyLimit = Exclude<Policy<'concurrency'>, readonly unknown[]>
/** At most `limit` starts per `period`, with `burst` more at once; of one `key`. What is over it waits. */
export type Throttle = Policy<'throttle'>
/** At most `limit` starts per `period`; of one `key`. What is over it is dropped. */
export type RateLimit = Policy<'rateLimit'>
/** Starts once no event came for `period`, at the latest after `timeout`; of one `key`. */
export type Debounce = Policy<'debounce'>
/** Starts with up to `maxSize` events, or what came within `timeout`; of one `key`. */
export type Batch = Policy<'batch'>
/** One run at a time; of one `key`. The `mode` says who gives way: the event, or the run before. */
export type Singleton = Policy<'singleton'>
/** One run per `key` within `ttl` (24 h). */
export type Idempotency = Policy<'idempotency'>
/** Durations: in the queue, of the whole run, of one invoke. */
export type Timeouts = Policy<'timeouts'>
/** An event that cancels runs, and which ones (`if`). */
export type CancelOn = Policy<'cancelOn'>[number]

/** How arriving events become runs, and which runs go first. */
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
