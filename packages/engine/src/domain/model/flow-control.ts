// The flow-control policies of a workflow as the engine keeps them: durations in ms, defaults filled in, every
// expression known to compile. `registry/flow-control.ts` makes them from a registration.

export type ConcurrencyScope = 'workflow' | 'app' | 'namespace'

export interface ConcurrencyLimit {
  limit: number
  key?: string
  scope: ConcurrencyScope
}

export interface Throttle {
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
