// The flow-control policies of a workflow in their stored form, with durations in ms, defaults filled in and expressions that
// compile (`registry/flow-control.ts` makes them from a registration), and the holds that they put on a run.

import type { EventMatch, IfRunning } from '@perdure/protocol'

export type ConcurrencyScope = 'workflow' | 'app' | 'namespace'

export interface ConcurrencyLimit {
  limit: number
  key?: string
  scope: ConcurrencyScope
  /** Absent: a run holds its slot only during passes. */
  hold?: 'run'
}

interface Throttle {
  limit: number
  periodMs: number
  /** Starts beyond `limit` that may follow at once after a pause. */
  burst: number
  key?: string
}

export interface Debounce {
  periodMs: number
  /** Maximum wait since the first event of a burst. */
  timeoutMs?: number
  mode: 'last' | 'first' | 'all'
  key?: string
}

export interface Batch {
  maxSize: number
  timeoutMs: number
  key?: string
}

interface Singleton {
  mode: 'skip' | 'cancel' | 'deliver'
  key?: string
}

export interface Timeouts {
  /** From creation to the first invoke. */
  queueMs?: number
  /** From the first invoke to the end. */
  runMs?: number
  /** Deadline of one invoke. */
  invokeMs?: number
}

/** The keys take turns where a limit holds runs. */
interface Fairness {
  key: string
  /** A CEL expression for a number: the share of the key. */
  weight?: string
}

export interface CancelOn {
  event: string
  if?: string
  match?: EventMatch
  /** Counts from the run's creation: later events do not cancel it. */
  timeoutMs?: number
}

export interface FlowControl {
  concurrency?: ConcurrencyLimit[]
  throttle?: Throttle
  rateLimit?: { limit: number; periodMs: number; key?: string }
  debounce?: Debounce
  batch?: Batch
  singleton?: Singleton
  idempotency?: { key: string; ttlMs: number }
  /** A CEL expression for a number; higher numbers go first. */
  priority?: string
  fairness?: Fairness
  timeouts?: Timeouts
  cancelOn?: CancelOn[]
}

/** Limits that an operator has set for a workflow. They count instead of the registered ones until they are removed. */
export interface OperatorLimits {
  /** Replaces the limit without a key, else the first one. 0: nothing starts. */
  concurrency?: number
  /** Replaces the number of starts in the registered period of the throttle. 0: nothing starts. */
  throttle?: number
}

/** The permits of a concurrency key, which are counted from the runs under way. */
export interface Slot {
  /** Unique over namespaces, scopes and keys. */
  id: string
  /**
   * Maximum runs that hold the slot at once, by the definition under which this run was created. The present definition counts
   * (holds/holds).
   */
  limit: number
  /** The key's value; absent for a limit without a key. */
  key?: string
  /** The run keeps the slot until it ends (holds/kept-slots). Such slots come first among those of a run. */
  kept?: true
}

/** The throttle of the workflow; `key` is the key's value. */
export interface ThrottleHold extends Throttle {
  /** Unique over namespaces, workflows and keys. */
  id: string
}

/** The limits that a run waits for under its workflow's flow control: holds/holds evaluates it once, when the run is created. */
export interface Holds {
  /** At most three different slots. */
  slots?: Slot[]
  /** The run took over kept slots from the run that it follows: it holds them from its creation. */
  fromBirth?: true
  /** On a child: the ancestors that keep a slot until the child has ended, by the slot's id. */
  ancestors?: Record<string, string[]>
  throttle?: ThrottleHold
  /** The fairness key of the run and its weight, where a slot or a throttle may hold the run. */
  fairness?: { key: string; weight: number }
  /** From creation to the first invoke. */
  queueTimeoutMs?: number
  /** From the first invoke to the end. */
  runTimeoutMs?: number
}

/** The key of a direct start: at most one live run of a workflow has it (docs/concepts.md#one-live-run-per-key). */
export interface StartKey {
  key: string
  /** Decides what happens when a live run has the key. */
  ifRunning: IfRunning
}
