// The table of flow control: schedules, open buffers, claimed idempotency keys, and events that arrive later.

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
    dueAt: optional(integer),
    expiresAt: optional(integer),
    state: text,
  },
  indexes: {
    flow_rows_available: { on: 'available_at', where: 'available_at IS NOT NULL' },
    flow_rows_of: { on: 'namespace, app, workflow, policy' },
    flow_rows_listed: { on: 'namespace, policy, due_at, id', where: 'due_at IS NOT NULL' },
    flow_rows_schedules: { on: 'namespace, key', where: "policy = 'schedule'", since: 2 },
    // Retention finds rows that are over by it.
    flow_rows_expiring: { on: 'expires_at', where: 'expires_at IS NOT NULL' },
  },
})
