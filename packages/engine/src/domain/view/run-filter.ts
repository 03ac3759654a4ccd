// The filter of runs, as it appears in replies and in the audit log. Called by bulk actions and the bulk replay.

import type { RunFilter } from '../model/run.ts'
import { shownRunId } from '../text/ids.ts'
import { optionalTimestamp } from '../text/timestamp.ts'

/** The filter with its times as text, and with run ids as their callers gave them. */
export function shownFilter({ since, until, endedSince, endedUntil, ...filter }: RunFilter) {
  return {
    ...filter,
    since: optionalTimestamp(since),
    until: optionalTimestamp(until),
    endedSince: optionalTimestamp(endedSince),
    endedUntil: optionalTimestamp(endedUntil),
    parentRunId: shownRunId(filter.parentRunId),
    replayOf: shownRunId(filter.replayOf),
  }
}
