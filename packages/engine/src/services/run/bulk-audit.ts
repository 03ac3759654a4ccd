// The detail of a bulk action in the audit log: the filter, or how many ids, and the counts once there are some.

import { type BulkJob, matchedOf } from '../../domain/model/bulk.ts'
import type { JsonText } from '../../domain/text/json-text.ts'
import { shownFilter } from '../../domain/view/run-filter.ts'

export function auditDetail(job: BulkJob): JsonText {
  const { id, status, filter, counts, found, skipsCleanup } = job
  const matched = counts ? matchedOf(job, counts) : found
  const cleanup = skipsCleanup ? { cleanup: false } : {}
  return JSON.stringify({ bulkId: id, status, filter: filter && shownFilter(filter), ...cleanup, matched, ...counts })
}
