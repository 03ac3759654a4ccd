// The part of the reads about the queues in which runs are held: of a concurrency slot, or of a throttle.

import type { Run } from '../domain/model/run.ts'

/** The fields that decide the position of a held run in its queue. */
export type HeldRun = Pick<Run, 'id' | 'waitsForSlot' | 'startQueue' | 'priority' | 'holds'>

/** Most held runs of a queue that are counted to find the positions of runs in it. */
export const HELD_COUNTED_MAX = 10_000
/** Most held runs that are counted for the runs of one page, of all their queues together. */
export const HELD_OF_PAGE_COUNTED_MAX = 100_000

/** How many runs come before a run in its queue; at least so many, where not all could be counted. */
export interface HeldBefore {
  count: number
  isPart: boolean
}

export interface QueueReads {
  /**
   * How many runs come before this one in its queue, of a slot or of a throttle; it counts up to `HELD_COUNTED_MAX`. With a fairness key
   * those of its key alone.
   */
  heldBefore(run: HeldRun): Promise<number>
  /**
   * The same of each run, by id. A run that is not in its queue any more is left out. Each queue is read once, up to
   * `HELD_COUNTED_MAX` or, of many queues, up to its share of `HELD_OF_PAGE_COUNTED_MAX`.
   */
  heldBeforeEach(runs: readonly HeldRun[], signal?: AbortSignal): Promise<Map<string, HeldBefore>>
  /**
   * Whether the first run in the start queue of the throttle is ahead of this one: of a higher priority, else earlier in the log. A run
   * that is bound for another runner does not count, since that runner may have no room. With a fairness key: whether the next turn is of
   * an earlier run of the key, or of a key with an earlier turn.
   */
  isBehindStartQueue(throttleId: string, run: Pick<Run, 'id' | 'holds'>): Promise<boolean>
}
