// Flow control options of a workflow (docs/flow-control.md). The SDK passes them on to the engine, which enforces them, so the
// types are those of the registration. Every `key` and `if` is CEL over `event`; a duration is milliseconds or a text such as
// "30s".

import type { EventDefinition } from '@perdure/client'
import type { FlowControlName, WorkflowRegistration } from '@perdure/protocol'

/** The flow control fields of a registration. */
type Policies = Pick<WorkflowRegistration, FlowControlName>
type Policy<Name extends keyof Policies> = NonNullable<Policies[Name]>

/** At most `limit` runs at once, for each value of `key`. `scope` defines which runs are counted together. */
export type ConcurrencyLimit = Exclude<Policy<'concurrency'>, readonly unknown[]>
/** At most `limit` starts per `period`, and `burst` additional ones at once, for each value of `key`. Further starts wait. */
export type Throttle = Policy<'throttle'>
/** At most `limit` starts per `period`, for each value of `key`. Further events start no run. */
export type RateLimit = Policy<'rateLimit'>
/** Starts a run when no event has arrived for `period`, but after `timeout` at the latest, for each value of `key`. */
export type Debounce = Policy<'debounce'>
/** Starts a run with `maxSize` events, or with the events that arrived within `timeout`, for each value of `key`. */
export type Batch = Policy<'batch'>
/**
 * One run at a time, for each value of `key`. `mode` decides about a further event: it is skipped, cancels the run, or goes to
 * the run's waits.
 */
export type Singleton = Policy<'singleton'>
/** One run for each value of `key` within `ttl`. Default 24 hours. */
export type Idempotency = Policy<'idempotency'>
/**
 * Keys that take turns while a limit holds runs back. `weight` is a CEL expression for the share of a key; without it the share
 * is 1.
 */
export type Fairness = Policy<'fairness'>
/** Maximum time in the queue, of the whole run, and of one invoke. */
export type Timeouts = Policy<'timeouts'>
/**
 * An event that cancels runs, by its exact name or its definition. `if` and `match` select the runs. An event that comes later
 * than `timeout` after a run's creation does not cancel the run.
 */
export type CancelOn =
  | (Omit<Policy<'cancelOn'>[number], 'event'> & { event: string | EventDefinition })
  | EventDefinition

/** Policies for how arriving events become runs, and which runs start first. */
export interface FlowControl extends Omit<Policies, 'cancelOn'> {
  /** Limits the number of runs at once; further runs wait. Up to three limits, which all apply. */
  concurrency?: ConcurrencyLimit | ConcurrencyLimit[]
  /** Limits the starts per period; further starts wait. */
  throttle?: Throttle
  /** Limits the starts per period; further events start no run. */
  rateLimit?: RateLimit
  /** Starts a run when no further event has arrived for the period. Not together with `batch`. */
  debounce?: Debounce
  /** Collects events: `event.data` is the array of their payloads. */
  batch?: Batch
  /** One run at a time: a further event is skipped, cancels the current run, or is delivered to its waits. */
  singleton?: Singleton
  /** One run per key within the window. Default 24 hours. */
  idempotency?: Idempotency
  /** CEL expression that returns a number; runs with a higher number start first. */
  priority?: string
  /** Where `concurrency` or `throttle` holds runs back, the values of `key` take turns. Priority orders runs within a key. */
  fairness?: Fairness
  /** How long a run may wait for its first invoke, how long it may take, and how long one invoke may take. */
  timeouts?: Timeouts
  /**
   * Events that cancel a run. In `if` the run's own event is `event` and the arriving one is `async`; paths in `match` must have
   * the same values in both.
   */
  cancelOn?: readonly CancelOn[]
}

/**
 * The policies of a workflow with this input. Only a handler whose input is an array may collect events: with `batch`,
 * and with `debounce` in mode `all`, `event.data` is the array of their payloads.
 */
export type FlowControlOf<Input> = unknown extends Input
  ? FlowControl
  : [Input] extends [readonly unknown[]]
    ? FlowControl
    : Omit<FlowControl, 'batch' | 'debounce'> & {
        batch?: never
        debounce?: Omit<Debounce, 'mode'> & { mode?: 'last' | 'first' }
      }
