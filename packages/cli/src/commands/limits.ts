// `perdure limits`: what holds runs back, and which runs hold it.

import type { LimitStatus } from '@perdure/protocol'
import type { Command } from 'commander'
import { appOption, limitOption } from '../command-line/options.ts'
import { engineCommand, list } from '../command-line/session.ts'
import type { Column } from '../output/table.ts'
import { relative } from '../output/time.ts'

/** Adds `perdure limits` to the program. */
export function limitsCommand(program: Command): void {
  const command = program
    .command('limits')
    .description('list the concurrency limits and throttles that runs hold or wait for')
    .addOption(appOption())
    .option('--workflow <name>', 'only runs of this workflow')
    .addOption(limitOption('limits', 100))
  engineCommand<{ app?: string; workflow?: string; limit: number }>(
    command,
    ['perdure limits --app shop', 'perdure limits --json | jq .holders'],
    async session => {
      const { app, workflow, limit } = session.options
      return list(session, await session.client.listLimits({ app, workflow, limit }, session), COLUMNS)
    },
  )
}

const COLUMNS: Column<LimitStatus>[] = [
  { title: 'KIND', cell: limit => limit.kind },
  { title: 'WORKFLOW', cell: limit => limit.workflow ?? `any of the ${limit.scope}` },
  { title: 'APP', cell: limit => limit.app },
  { title: 'KEY', cell: limit => limit.key },
  { title: 'HELD', cell: limit => (limit.kind === 'concurrency' ? `${limit.held} of ${limit.limit}` : rate(limit)) },
  { title: 'WAITING', cell: limit => String(limit.kind === 'concurrency' ? limit.waiting : limit.inLine) },
  { title: 'OLDEST', cell: limit => (limit.oldestAt === undefined ? undefined : relative(limit.oldestAt)) },
  { title: 'HOLDER', cell: limit => (limit.kind === 'concurrency' ? limit.holders[0]?.runId : undefined), whole: true },
]

function rate({ limit, periodMs }: Extract<LimitStatus, { kind: 'throttle' }>): string {
  return `${limit} in ${periodMs / 1000} s`
}
