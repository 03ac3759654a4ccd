// `perdure audit`: who acted on which run or setting.

import type { Command } from 'commander'
import { listCommand } from '../command-line/operation.ts'

/** Adds `perdure audit` to the program. */
export function auditCommand(program: Command): void {
  listCommand(program, 'audit', {
    operation: 'listControlActions',
    description: 'list control actions, newest first',
    examples: ['perdure audit --run run_01K...', 'perdure audit --action cancel --json | jq -r .actor'],
    rows: 'entries',
    columns: [
      { field: 'createdAt', title: 'WHEN', leave: 3 },
      'action',
      { field: 'runId', title: 'RUN' },
      { field: 'newRunId', title: 'NEW RUN', leave: 2 },
      'actor',
      { title: 'DETAIL', cell: entry => JSON.stringify(entry.detail), leave: 1 },
    ],
  })
}
