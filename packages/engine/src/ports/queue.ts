// The Queue port wakes lanes; the work itself is in the store. A lost or repeated wake-up costs only time, never a run.

import type { Lane } from './store.ts'

export interface Queue {
  /** A row of the lane becomes available at `at` (epoch ms). */
  wake(lane: Lane, at: number): void
  /**
   * Resolves when the lane was woken for a time that has come, at the latest at `until`, or on abort. Also resolves when the
   * time from now to `until` has passed by the monotonic clock: setting the wall clock back makes no wait longer.
   */
  wait(lane: Lane, until: number, signal: AbortSignal): Promise<void>
  /** Present only where a network service carries the wake-ups: readiness checks it (docs/operating.md#probes). */
  ping?(): Promise<void>
  close?(): Promise<void>
}
