// Instants of a schedule at which nothing started because a singleton had a live run
// (docs/flow-control.md#what-applies-to-what). Stored with the schedule.

/** The first and the last of consecutive instants, how many there were, and the live run at the last one. */
export interface Skipped {
  from: number
  until: number
  count: number
  liveRunId: string
}

/** The skipped instants with one more. `before`: those since the last run. */
export function skippedAfter(before: Skipped | undefined, instant: number, liveRunId: string): Skipped {
  return { from: before?.from ?? instant, until: instant, count: (before?.count ?? 0) + 1, liveRunId }
}
