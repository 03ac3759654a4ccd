// `perdure limits`: what holds runs back, and which runs hold it.

import { LIMIT_KINDS, type LimitStatus } from '@perdure/protocol'
import { type Command, Option } from 'commander'
import { appOption, limitOption } from '../command-line/options.ts'
import { engineCommand, list } from '../command-line/session.ts'
import type { Column } from '../output/table.ts'
import { relative } from '../output/time.ts'

/** Adds `perdure limits` to the program. */
export function limitsCommand(program: Command): void {
  const command = program
    .command('limits')
    .description('list the concurrency limits and throttles that runs hold or wait for, or live singletons')
    .addOption(appOption())
    .option('--workflow <name>', 'only runs of this workflow')
    .option('--key <key>', 'only limits with this value of their key')
    .addOption(new Option('--kind <kind>', 'only limits of this kind, or singletons').choices(LIMIT_KINDS))
    .addOption(limitOption('limits', 100))
  engineCommand<{ app?: string; workflow?: string; key?: string; kind?: LimitStatus['kind']; limit: number }>(
    command,
    [
      'perdure limits --app shop',
      'perdure limits --key acct-17',
      'perdure limits --kind singleton',
      'perdure limits --json | jq .holders',
    ],
    async session => {
      const { app, workflow, key, kind, limit } = session.options
      const limits = await session.client.listLimits({ app, workflow, key, kind, limit }, session)
      return kind === 'singleton'
        ? list(session, limits.filter(isSingleton), SINGLETON_COLUMNS)
        : list(
            session,
            limits.filter(each => !isSingleton(each)),
            COLUMNS,
          )
    },
  )
}

type Singleton = Extract<LimitStatus, { kind: 'singleton' }>
type Limit = Exclude<LimitStatus, Singleton>

const isSingleton = (limit: LimitStatus): limit is Singleton => limit.kind === 'singleton'

const SINGLETON_COLUMNS: Column<Singleton>[] = [
  { title: 'WORKFLOW', cell: ({ workflow }) => workflow },
  { title: 'APP', cell: ({ app }) => app },
  { title: 'KEY', cell: ({ key }) => key },
  { title: 'CREATED', cell: ({ createdAt }) => relative(createdAt) },
  { title: 'RUN', cell: ({ runId }) => runId, whole: true },
]

const COLUMNS: Column<Limit>[] = [
  { title: 'KIND', cell: limit => limit.kind },
  { title: 'WORKFLOW', cell: limit => limit.workflow ?? `any of the ${limit.scope}` },
  { title: 'APP', cell: limit => limit.app },
  { title: 'KEY', cell: limit => limit.key },
  { title: 'HELD', cell: limit => (limit.kind === 'concurrency' ? `${limit.held} of ${limit.limit}` : rate(limit)) },
  { title: 'WAITING', cell: limit => String(limit.kind === 'concurrency' ? limit.waiting : limit.inLine) },
  { title: 'OLDEST', cell: limit => (limit.oldestAt === undefined ? undefined : relative(limit.oldestAt)) },
  {
    title: 'A MINUTE',
    cell: limit => (limit.kind === 'concurrency' ? String(limit.releasedPerMin) : undefined),
  },
  { title: 'HOLDER', cell: limit => (limit.kind === 'concurrency' ? limit.holders[0]?.runId : undefined), whole: true },
]

function rate({ limit, periodMs }: Extract<Limit, { kind: 'throttle' }>): string {
  return `${limit} in ${periodMs / 1000} s`
}
