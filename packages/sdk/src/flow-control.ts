// Flow control as a workflow registers it (decisions, "Flow control at registration"). The engine enforces all
// of it; the SDK only passes it on. Every `key` is CEL over `event`.

import type { Duration } from './step-tools.ts'

export interface ConcurrencyLimit {
  limit: number
  key?: string
  scope?: 'workflow' | 'app' | 'namespace'
}

export interface FlowControl {
  /** At most so many runs at once; more wait. */
  concurrency?: ConcurrencyLimit | ConcurrencyLimit[]
  /** At most so many starts per period; more wait. */
  throttle?: { limit: number; period: Duration; burst?: number; key?: string }
  /** At most so many starts per period; more are dropped. */
  rateLimit?: { limit: number; period: Duration; key?: string }
  /** Starts when no further event came for the period. */
  debounce?: { period: Duration; key?: string; timeout?: Duration; mode?: 'last' | 'first' | 'all' }
  /** Collects events: `event.data` is the array of their payloads. */
  batch?: { maxSize: number; timeout: Duration; key?: string }
  /** One run at a time: a further event is skipped, or cancels the run before. */
  singleton?: { mode: 'skip' | 'cancel'; key?: string }
  /** One run per key within the window (24 h). */
  idempotency?: { key: string; ttl?: Duration }
  /** CEL to a number; higher first. */
  priority?: string
  timeouts?: { queue?: Duration; run?: Duration; invoke?: Duration }
  /** Events that cancel a run. */
  cancelOn?: { event: string; if?: string }[]
}
