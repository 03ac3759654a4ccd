// Runs in numbers: how many started and ended, and how long they took. Used by roll-ups and statistics.

import type { TERMINAL_STATUSES } from '@perdure/protocol'
import { addDurations, type Durations, noDurations } from './durations.ts'

export interface RunTally extends Record<(typeof TERMINAL_STATUSES)[number], number> {
  /** Created runs. */
  started: number
  /** The durations of the succeeded and failed runs. */
  durations: Durations
  /** The times that ended runs waited for their first pass. */
  queueTimes: Durations
}

export function emptyTally(): RunTally {
  return { started: 0, succeeded: 0, failed: 0, cancelled: 0, durations: noDurations(), queueTimes: noDurations() }
}

export function addTally(to: RunTally, tally: RunTally): void {
  to.started += tally.started
  to.succeeded += tally.succeeded
  to.failed += tally.failed
  to.cancelled += tally.cancelled
  addDurations(to.durations, tally.durations)
  addDurations(to.queueTimes, tally.queueTimes)
}

/** The entry of that key, which is made if there is none. */
export function tallyOf<Key>(tallies: Map<Key, RunTally>, key: Key): RunTally {
  let tally = tallies.get(key)
  if (!tally) {
    tally = emptyTally()
    tallies.set(key, tally)
  }
  return tally
}
