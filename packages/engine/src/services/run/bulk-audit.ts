// The detail of a bulk action in the audit log: the filter, or how many ids, and the counts once there are some.

import { type BulkJob, matchedOf } from '../../domain/model/bulk.ts'
import { shownRunId } from '../../domain/text/ids.ts'
import type { JsonText } from '../../domain/text/json-text.ts'
import { optionalTimestamp } from '../../domain/text/timestamp.ts'

export function auditDetail(job: BulkJob): JsonText {
  const { id, status, filter, counts, found } = job
  const { since, until, endedSince, endedUntil, ...rest } = filter ?? {}
  const shown = filter && {
    ...rest,
    since: optionalTimestamp(since),
    until: optionalTimestamp(until),
    endedSince: optionalTimestamp(endedSince),
    endedUntil: optionalTimestamp(endedUntil),
    parentRunId: shownRunId(rest.parentRunId),
    replayOf: shownRunId(rest.replayOf),
  }
  const matched = counts ? matchedOf(job, counts) : found
  return JSON.stringify({ bulkId: id, status, filter: shown, matched, ...counts })
}
