// `perdure runs errors`: failed runs in groups of one cause.

import type { ErrorGroup } from '@perdure/protocol'
import type { Command } from 'commander'
import { appOption, limitOption, sinceOption } from '../../command-line/options.ts'
import { engineCommand, list } from '../../command-line/session.ts'
import type { Column } from '../../output/table.ts'
import { relative } from '../../output/time.ts'

/** Adds `errors` to `perdure runs`. */
export function errorsCommand(runs: Command): void {
  const command = runs
    .command('errors')
    .description('group the failed runs of a day by error, the largest group first')
    .addOption(appOption())
    .option('--workflow <name>', 'only failures of this workflow')
    .addOption(sinceOption('failures'))
    .addOption(limitOption('groups', 100))
  engineCommand<{ app?: string; workflow?: string; since?: string; limit: number }>(
    command,
    ['perdure runs errors --since 2h', 'perdure runs errors --json | jq -r .fingerprint'],
    async session => {
      const { app, workflow, since, limit } = session.options
      return list(session, await session.client.listErrors({ app, workflow, since, limit }, session), COLUMNS)
    },
  )
}

const COLUMNS: Column<ErrorGroup>[] = [
  { title: 'ERROR', cell: group => group.fingerprint, whole: true },
  { title: 'COUNT', cell: group => String(group.count) },
  { title: 'WORKFLOW', cell: group => group.workflow },
  { title: 'APP', cell: group => group.app },
  { title: 'STEP', cell: group => group.stepName },
  { title: 'LAST', cell: group => relative(group.lastAt) },
  { title: 'LAST RUN', cell: group => group.lastRunId, whole: true },
  { title: 'MESSAGE', cell: group => group.message },
]
