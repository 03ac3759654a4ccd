// The Queue port is a bell: it holds no work. A lost or repeated ring costs only time, never a run.

import type { Lane } from './store.ts'

export interface Queue {
  /** Says that a row of the lane becomes available at `at` (epoch ms). */
  wake(lane: Lane, at: number): void
  /** Resolves when the lane was woken for a time that has come, at `until` at the latest, or on abort. */
  wait(lane: Lane, until: number, signal: AbortSignal): Promise<void>
  /** Present only where a network service stands behind the bell (contract §4.7). */
  ping?(): Promise<void>
  close?(): Promise<void>
}
