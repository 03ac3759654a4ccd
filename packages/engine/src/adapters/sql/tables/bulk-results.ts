// The table of what bulk actions did, one row for each run that a job looked at.

import type { BulkResult } from '../../../domain/model/bulk.ts'
import { integer, optional, text } from '../description/column.ts'
import { table } from '../description/table.ts'

export const BULK_RESULTS = table<BulkResult>()('bulk_results', {
  key: ['bulk_id', 'run_id'],
  since: 2,
  fixed: {
    bulkId: text,
    runId: text,
    outcome: text,
    newRunId: optional(text),
    error: optional(text),
    expiresAt: integer,
  },
  indexes: {
    // Retention finds old results by it.
    bulk_results_expiring: { on: 'expires_at' },
  },
})
