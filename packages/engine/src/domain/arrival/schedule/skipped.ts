// Instants of a schedule for which a singleton had a live run, so that nothing started (docs/flow-control.md#what-applies-to-what).
// Kept with the schedule.

/** The first and the last of the instants in a row, how many there were, and the live run of the last. */
export interface Skipped {
  from: number
  until: number
  count: number
  liveRunId: string
}

/** The skipped instants after one more. `before`: those since the last run. */
export function skippedAfter(before: Skipped | undefined, instant: number, liveRunId: string): Skipped {
  return { from: before?.from ?? instant, until: instant, count: (before?.count ?? 0) + 1, liveRunId }
}
