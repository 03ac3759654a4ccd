// The reads of the queues in which runs wait for a concurrency slot or a throttle.

import type { Run } from '../domain/model/run.ts'

/** The fields that decide the position of a held run in its queue. */
export type HeldRun = Pick<Run, 'id' | 'waitsForSlot' | 'startQueue' | 'priority' | 'holds'>

/** Maximum held runs of one queue that are counted to find positions in it. */
export const HELD_COUNTED_MAX = 10_000
/** Maximum held runs that are counted for the runs of one page, over all their queues. */
export const HELD_OF_PAGE_COUNTED_MAX = 100_000

/** How many runs come before a run in its queue; a lower bound if not all could be counted. */
export interface HeldBefore {
  count: number
  isPart: boolean
}

export interface QueueReads {
  /**
   * Counts the runs before this one in its queue of a slot or a throttle, up to `HELD_COUNTED_MAX`. With a fairness key only
   * runs of that key count.
   */
  heldBefore(run: HeldRun): Promise<number>
  /**
   * The same for each run, by id. A run that is no longer in its queue is left out. Each queue is read once, up to
   * `HELD_COUNTED_MAX` or, with many queues, up to its share of `HELD_OF_PAGE_COUNTED_MAX`.
   */
  heldBeforeEach(runs: readonly HeldRun[], signal?: AbortSignal): Promise<Map<string, HeldBefore>>
  /**
   * Whether the first run in the start queue of the throttle is ahead of this one: of a higher priority, else earlier in the
   * log. A run that is bound for another runner does not count, since that runner may have no room. With a fairness key:
   * whether the next turn belongs to an earlier run of the key, or to a key with an earlier turn.
   */
  isBehindStartQueue(throttleId: string, run: Pick<Run, 'id' | 'holds'>): Promise<boolean>
}
