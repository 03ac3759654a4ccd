// What the flow control of a workflow makes one of its runs wait for. `holds/holds.ts` evaluates it once, when the run
// is created.

/** A place among the runs that share a concurrency key. */
export interface Slot {
  /** Unique over namespaces, scopes and keys. */
  id: string
  /** Most runs that hold it at once, as this run sees it. */
  limit: number
  /** The key's value; absent for a limit without a key. */
  key?: string
}

export interface ThrottleHold {
  /** Unique over namespaces, workflows and keys. */
  id: string
  limit: number
  periodMs: number
  burst: number
  key?: string
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
