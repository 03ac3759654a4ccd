// The holds of a run: what its workflow's flow control makes it wait for. holds/holds evaluates them once, when the run is
// created.

import type { Throttle } from './flow-control.ts'

/** One of the limited places of the runs that share a concurrency key. */
export interface Slot {
  /** Unique over namespaces, scopes and keys. */
  id: string
  /** Most runs that hold the slot at once, by the definition that this run was created under. */
  limit: number
  /** The key's value; absent for a limit without a key. */
  key?: string
}

/** The throttle of the workflow; `key` is the key's value. */
export interface ThrottleHold extends Throttle {
  /** Unique over namespaces, workflows and keys. */
  id: string
}

export interface Holds {
  /** At most three, all of them different. */
  slots?: Slot[]
  throttle?: ThrottleHold
  /** From creation to the first invoke. */
  queueTimeoutMs?: number
  /** From the first invoke to the end. */
  runTimeoutMs?: number
}
