// `perdure runs errors`: failed runs in groups of one cause.

import type { ErrorGroup } from '@perdure/protocol'
import { type Command, Option } from 'commander'
import { appOption, limitOption, sinceOption, wholeNumber } from '../../command-line/options.ts'
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
    .addOption(trendOption())
  engineCommand<{ app?: string; workflow?: string; since?: string; limit: number; trend?: number }>(
    command,
    ['perdure runs errors --since 2h', 'perdure runs errors --json | jq -r .fingerprint'],
    async session => {
      const { app, workflow, since, limit, trend } = session.options
      return list(session, await session.client.listErrors({ app, workflow, since, limit, trend }, session), COLUMNS)
    },
  )
}

const SPANS_MAX = 48

const trendOption = () =>
  new Option(
    '--trend <n>',
    `count the failures of each group in n equal spans of the time too, at most ${SPANS_MAX}`,
  ).argParser(wholeNumber(`a whole number from 1 to ${SPANS_MAX}`, 1, SPANS_MAX))

const COLUMNS: Column<ErrorGroup>[] = [
  { title: 'ERROR', cell: group => group.fingerprint, whole: true },
  { title: 'COUNT', cell: group => String(group.count) },
  { title: 'TREND', cell: ({ trend }) => trend?.join(' ') },
  { title: 'WORKFLOW', cell: group => group.workflow },
  { title: 'APP', cell: group => group.app },
  { title: 'STEP', cell: group => group.stepName },
  { title: 'LAST', cell: group => relative(group.lastAt) },
  { title: 'LAST RUN', cell: group => group.lastRunId, whole: true },
  { title: 'MESSAGE', cell: group => group.message },
]
