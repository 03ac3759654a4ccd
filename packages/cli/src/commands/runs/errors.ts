// `perdure runs errors`: failed runs in groups of one cause.

import type { Command } from 'commander'
import { listCommand } from '../../command-line/operation.ts'
import { workflowCell } from '../../output/table.ts'

/** Adds `errors` to `perdure runs`. */
export function errorsCommand(runs: Command): void {
  listCommand(runs, 'errors', {
    operation: 'listErrors',
    description: 'group the failed runs of a day by error, the largest group first',
    examples: ['perdure runs errors --since 2h', 'perdure runs errors --json | jq -r .fingerprint'],
    rows: 'groups',
    columns: [
      { field: 'fingerprint', title: 'ERROR', whole: true },
      'count',
      { title: 'TREND', cell: ({ trend }) => trend?.join(' ') },
      { title: 'WORKFLOW', cell: workflowCell },
      'app',
      { field: 'stepName', title: 'STEP' },
      'lastAt',
      { field: 'lastRunId', title: 'LAST RUN' },
      {
        title: 'RUNNERS',
        cell: ({ runners }) => runners?.map(({ runnerId, count }) => `${runnerId}: ${count}`).join(', '),
      },
      'message',
    ],
  })
}
