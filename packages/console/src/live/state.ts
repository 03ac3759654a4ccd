// The state of the tab's live connection, and the followers of topics in this tab. Changed by the connection (link.ts).

import type { Batch } from './coalescer.ts'
import type { Counts } from './counts.ts'
import type { LiveState, Topic } from './messages.ts'

export interface Follower {
  topic: Topic
  onBatch(batch: Batch): void
  /**
   * Frames before `openedAt`, by `performance.now()`, may be missing: read again everything that was read earlier. Rejects if
   * that fails.
   */
  onGap(openedAt: number): Promise<void>
  /** The last frame of a timeline that the follower has. */
  after: number
}

/** The state of the live connection, for the pill. */
export interface Live {
  state: LiveState
  retryAt?: number | undefined
  isPaused: boolean
  /** Number of frames that arrived while paused. */
  held: number
  /** Since when the content may be outdated: the stream is interrupted, or the page has not been read again yet. */
  staleSince?: number | undefined
  /** More frames arrive than can be shown: rows only show their status. */
  isSampling: boolean
  /** The counts of the rail. */
  counts: Counts
}

let live: Live = { state: 'idle', isPaused: false, held: 0, isSampling: false, counts: {} }
const listeners = new Set<() => void>()

/** The followers of this tab. */
export const followers = new Set<Follower>()

export const currentLive = (): Live => live

/** Changes the state, for the connection. */
export function setLive(change: Partial<Live>): void {
  live = { ...live, ...change }
  for (const listener of listeners) listener()
}

/** Calls `listener` after every change of the state. Returns the function that stops it. */
export function onLive(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
