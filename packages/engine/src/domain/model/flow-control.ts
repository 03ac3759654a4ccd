// The flow-control policies of a workflow as the engine keeps them, with durations in ms, defaults filled in and expressions
// that compile (`registry/flow-control.ts` makes them from a registration), and the holds that they put on a run.

export type ConcurrencyScope = 'workflow' | 'app' | 'namespace'

export interface ConcurrencyLimit {
  limit: number
  key?: string
  scope: ConcurrencyScope
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
  /** Longest wait since the first event of a burst. */
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
  mode: 'skip' | 'cancel'
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

export interface CancelOn {
  event: string
  if?: string
}

export interface FlowControl {
  concurrency?: ConcurrencyLimit[]
  throttle?: Throttle
  rateLimit?: { limit: number; periodMs: number; key?: string }
  debounce?: Debounce
  batch?: Batch
  singleton?: Singleton
  idempotency?: { key: string; ttlMs: number }
  /** CEL to a number, higher first. */
  priority?: string
  timeouts?: Timeouts
  cancelOn?: CancelOn[]
}

/** The permits of a concurrency key, which are counted from the runs under way. */
export interface Slot {
  /** Unique over namespaces, scopes and keys. */
  id: string
  /** Most runs that hold the slot at once, by the definition that this run was created under. The present one counts (holds/holds). */
  limit: number
  /** The key's value; absent for a limit without a key. */
  key?: string
}

/** The throttle of the workflow; `key` is the key's value. */
export interface ThrottleHold extends Throttle {
  /** Unique over namespaces, workflows and keys. */
  id: string
}

/** The limits that a run waits for under its workflow's flow control: holds/holds evaluates it once, when the run is created. */
export interface Holds {
  /** At most three, all of them different. */
  slots?: Slot[]
  throttle?: ThrottleHold
  /** From creation to the first invoke. */
  queueTimeoutMs?: number
  /** From the first invoke to the end. */
  runTimeoutMs?: number
}
