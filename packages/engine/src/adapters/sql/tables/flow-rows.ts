// The table of flow control: schedules, open buffers and claimed idempotency keys.

import type { FlowRow } from '../../../domain/model/flow-row.ts'
import { integer, optional, text } from '../description/column.ts'
import { table } from '../description/table.ts'

export const FLOW_ROWS = table<FlowRow>()('flow_rows', {
  key: ['id'],
  fixed: {
    id: text,
    namespace: text,
    app: text,
    workflow: text,
    policy: text,
    key: text,
    version: integer,
    availableAt: optional(integer),
    leaseOwner: optional(text),
    expiresAt: optional(integer),
    state: text,
  },
  indexes: {
    flow_rows_available: { on: 'available_at', where: 'available_at IS NOT NULL' },
    flow_rows_of: { on: 'namespace, app, workflow, policy' },
    // Retention finds rows that are over by it.
    flow_rows_expiring: { on: 'expires_at', where: 'expires_at IS NOT NULL' },
  },
})
