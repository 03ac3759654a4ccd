// The detail of a bulk action in the audit log: the filter, or how many ids, and the counts once there are some.

import type { BulkJob } from '../../domain/model/bulk.ts'
import type { JsonText } from '../../domain/text/json-text.ts'
import { optionalTimestamp } from '../../domain/text/timestamp.ts'

export function auditDetail({ id, status, filter, counts }: BulkJob): JsonText {
  const { since, until, ...rest } = filter ?? {}
  const shown = filter && { ...rest, since: optionalTimestamp(since), until: optionalTimestamp(until) }
  const matched = counts && counts.done + counts.skipped + counts.failed
  return JSON.stringify({ bulkId: id, status, filter: shown, matched, ...counts })
}
