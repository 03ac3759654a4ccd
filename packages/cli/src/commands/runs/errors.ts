// `perdure runs errors`: failed runs grouped by cause, and commands that resolve, ignore and reopen a group.

import type { Command } from 'commander'
import { listCommand, showCommand } from '../../command-line/operation.ts'
import { workflowCell } from '../../output/table.ts'

const STATES = [
  ['resolve-error', 'resolved', 'resolve an error group: it is open again when one of its runs fails'],
  ['ignore-error', 'ignored', 'ignore an error group until it is reopened'],
  ['reopen-error', 'open', 'reopen a resolved or ignored error group'],
] as const

/** Adds `errors` to `perdure runs`, and the commands that set the state of a group. */
export function errorsCommand(runs: Command): void {
  listCommand(runs, 'errors', {
    operation: 'listErrors',
    description: 'group the failed runs of a day by error, the largest group first',
    examples: [
      'perdure runs errors --since 2h',
      'perdure runs errors --state open',
      'perdure runs errors --json | jq -r .fingerprint',
    ],
    rows: 'groups',
    columns: [
      { field: 'fingerprint', title: 'ERROR', whole: true },
      'count',
      'state',
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
  for (const [name, state, description] of STATES) {
    showCommand(runs, name, {
      operation: 'setErrorState',
      description,
      examples: [`perdure runs ${name} 3f9a1c0d5e7b2846`],
      body: () => ({ state }),
      lines: ({ fingerprint }) => [`${fingerprint} ${state}`],
    })
  }
}
