// `perdure runs errors`: failed runs in groups of one cause.

import type { ErrorGroup } from '@perdure/protocol'
import { type Command, Option } from 'commander'
import {
  appOption,
  limitOption,
  sinceOption,
  trendOption,
  untilOption,
  wholeNumber,
} from '../../command-line/options.ts'
import { engineCommand, list } from '../../command-line/session.ts'
import { type Column, workflowCell } from '../../output/table.ts'
import { relative } from '../../output/time.ts'

/** Adds `errors` to `perdure runs`. */
export function errorsCommand(runs: Command): void {
  const command = runs
    .command('errors')
    .description('group the failed runs of a day by error, the largest group first')
    .addOption(appOption())
    .option('--workflow <name>', 'only failures of this workflow')
    .addOption(sinceOption('failures'))
    .addOption(untilOption('failures'))
    .addOption(limitOption('groups', 100))
    .addOption(trendOption('failures of each group'))
    .addOption(runnersOption())
  engineCommand<Options>(
    command,
    ['perdure runs errors --since 2h', 'perdure runs errors --json | jq -r .fingerprint'],
    async session => {
      const { app, workflow, since, until, limit, trend, runners } = session.options
      const query = { app, workflow, since, until, limit, trend, runners }
      return list(session, await session.client.listErrors(query, session), COLUMNS)
    },
  )
}

interface Options {
  app?: string
  workflow?: string
  since?: string
  until?: string
  limit: number
  trend?: number
  runners?: number
}

const RUNNERS_MAX = 10

const runnersOption = () =>
  new Option(
    '--runners <n>',
    `count the failures of each group by runner too: the n runners with most of them, at most ${RUNNERS_MAX}`,
  ).argParser(wholeNumber(`a whole number from 1 to ${RUNNERS_MAX}`, 1, RUNNERS_MAX))

const COLUMNS: Column<ErrorGroup>[] = [
  { title: 'ERROR', cell: group => group.fingerprint, whole: true },
  { title: 'COUNT', cell: group => String(group.count) },
  { title: 'TREND', cell: ({ trend }) => trend?.join(' ') },
  { title: 'WORKFLOW', cell: workflowCell },
  { title: 'APP', cell: group => group.app },
  { title: 'STEP', cell: group => group.stepName },
  { title: 'LAST', cell: group => relative(group.lastAt) },
  { title: 'LAST RUN', cell: group => group.lastRunId, whole: true },
  {
    title: 'RUNNERS',
    cell: ({ runners }) => runners?.map(({ runnerId, count }) => `${runnerId}: ${count}`).join(', '),
  },
  { title: 'MESSAGE', cell: group => group.message },
]
