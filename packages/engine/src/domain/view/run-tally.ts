// Counts of runs: how many started and ended, and how long they took. Used by roll-ups and statistics.

import type { TERMINAL_STATUSES } from '@perdure/protocol'
import { addDurations, type Durations, noDurations } from './durations.ts'

/** Numbers of ended runs by status. */
export type Ends = Record<(typeof TERMINAL_STATUSES)[number], number>

/** Every field except `onFailure` and `cleanup` counts only runs of handlers (docs/console.md#what-is-counted). */
export interface RunTally extends Ends {
  /** Number of created runs. */
  started: number
  /** The durations of the succeeded and failed runs. */
  durations: Durations
  /** How long ended runs had waited for their first pass. */
  queueTimes: Durations
  /** Ended on-failure runs. */
  onFailure: Ends
  /** Ended cleanup runs. */
  cleanup: Ends
}

export function emptyTally(): RunTally {
  const [durations, queueTimes] = [noDurations(), noDurations()]
  return { started: 0, ...noEnds(), durations, queueTimes, onFailure: noEnds(), cleanup: noEnds() }
}

function noEnds(): Ends {
  return { succeeded: 0, failed: 0, cancelled: 0 }
}

function addEnds(to: Ends, ends: Ends): void {
  to.succeeded += ends.succeeded
  to.failed += ends.failed
  to.cancelled += ends.cancelled
}

export function addTally(to: RunTally, tally: RunTally): void {
  to.started += tally.started
  addEnds(to, tally)
  addEnds(to.onFailure, tally.onFailure)
  addEnds(to.cleanup, tally.cleanup)
  addDurations(to.durations, tally.durations)
  addDurations(to.queueTimes, tally.queueTimes)
}

/** The entry of that key; it is created if there is none. */
export function tallyOf<Key>(tallies: Map<Key, RunTally>, key: Key): RunTally {
  let tally = tallies.get(key)
  if (!tally) {
    tally = emptyTally()
    tallies.set(key, tally)
  }
  return tally
}
