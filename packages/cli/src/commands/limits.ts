// `perdure limits`: what holds runs back, and which runs hold it.

import type { LimitStatus } from '@perdure/protocol'
import type { Command } from 'commander'
import { operationCommand } from '../command-line/operation.ts'
import { list } from '../command-line/session.ts'
import type { Column } from '../output/table.ts'

/** Adds `perdure limits` to the program. */
export function limitsCommand(program: Command): void {
  operationCommand(
    program,
    'limits',
    {
      operation: 'listLimits',
      description: 'list the concurrency limits and throttles that runs hold or wait for, or live singletons',
      examples: [
        'perdure limits --app shop',
        'perdure limits --key acct-17',
        'perdure limits --kind singleton',
        'perdure limits --json | jq .holders',
      ],
      rows: 'limits',
      texts: { kind: 'only limits of this kind, or singletons' },
    },
    async (session, limits) => {
      const singletons = limits.filter(isSingleton)
      if (singletons.length > 0) return list(session, singletons, SINGLETON_COLUMNS)
      return list(session, limits as Limit[], COLUMNS)
    },
  )
}

type Singleton = Extract<LimitStatus, { kind: 'singleton' }>
type Limit = Exclude<LimitStatus, Singleton>

const isSingleton = (limit: LimitStatus): limit is Singleton => limit.kind === 'singleton'

const SINGLETON_COLUMNS: Column<Singleton>[] = ['workflow', 'app', 'key', 'createdAt', { field: 'runId', title: 'RUN' }]

const COLUMNS: Column<Limit>[] = [
  'kind',
  { title: 'WORKFLOW', cell: limit => limit.workflow ?? `any of the ${limit.scope}` },
  'app',
  'key',
  { title: 'HELD', cell: limit => (limit.kind === 'concurrency' ? `${limit.held} of ${limit.limit}` : rate(limit)) },
  { title: 'WAITING', cell: limit => String(limit.kind === 'concurrency' ? limit.waiting : limit.inLine) },
  'oldestAt',
  {
    title: 'A MINUTE',
    cell: limit => (limit.kind === 'concurrency' ? String(limit.releasedPerMin) : undefined),
  },
  { title: 'HOLDER', cell: limit => (limit.kind === 'concurrency' ? limit.holders[0]?.runId : undefined), whole: true },
]

function rate({ limit, periodMs }: Extract<Limit, { kind: 'throttle' }>): string {
  return `${limit} in ${periodMs / 1000} s`
}
