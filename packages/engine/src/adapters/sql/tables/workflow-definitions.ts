// The table of all present and past definitions of workflows, a row for each change.

import type { KeptDefinition } from '../../../domain/model/workflow.ts'
import { integer, json, optional, text } from '../description/column.ts'
import { table } from '../description/table.ts'

export const WORKFLOW_DEFINITIONS = table<KeptDefinition>()('workflow_definitions', {
  key: ['namespace', 'app', 'workflow', 'registered_at'],
  since: 2,
  fixed: {
    namespace: text,
    app: text,
    workflow: text,
    registeredAt: integer,
    hash: text,
    runner: optional(text),
    definition: json,
  },
})
