// The table of the audit log: what people did to runs.

import type { ControlAction } from '../../../domain/model/control-action.ts'
import { integer, optional, text, unique } from '../description/column.ts'
import { table } from '../description/table.ts'

export const CONTROL_ACTIONS = table<ControlAction>()('control_actions', {
  fixed: {
    id: unique(text),
    namespace: text,
    action: text,
    runId: optional(text),
    newRunId: optional(text),
    actor: optional(text),
    detail: optional(text),
    createdAt: integer,
  },
  indexes: {
    control_listed: { on: 'namespace, id' },
    control_of_kind: { on: 'namespace, action, id' },
    control_of_run: { on: 'namespace, run_id, id', where: 'run_id IS NOT NULL' },
    control_of_fork: { on: 'namespace, new_run_id, id', where: 'new_run_id IS NOT NULL' },
    control_of_actor: { on: 'namespace, actor, id', where: 'actor IS NOT NULL' },
    // Retention finds old actions by it.
    control_aged: { on: 'created_at' },
  },
})
