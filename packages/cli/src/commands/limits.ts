// `perdure limits`: the limits that hold runs back, and the runs that hold them. `perdure workflows limits` and `reset-limits`:
// limits that replace the registered ones.

import type { LimitStatus, WorkflowDefinition, WorkflowLimits } from '@perdure/protocol'
import type { Command } from 'commander'
import { list } from '../command-line/commands.ts'
import { UsageError } from '../command-line/flags.ts'
import { operationCommand, showCommand } from '../command-line/operation.ts'
import type { Column } from '../output/table.ts'

/** Adds `perdure limits` to the program. */
export function limitsCommand(program: Command): void {
  operationCommand(
    program,
    'limits',
    {
      operation: 'listLimits',
      description:
        'list the concurrency limits and throttles that runs hold or wait for, live singletons, or limits of steps',
      examples: [
        'perdure limits --app shop',
        'perdure limits --key acct-17',
        'perdure limits --kind singleton',
        'perdure limits --kind step --name openai',
        'perdure limits --json | jq .holders',
      ],
      rows: 'limits',
      texts: { kind: 'only limits of this kind, singletons, or limits that steps share' },
    },
    async (context, limits) => {
      const turns = limits.filter(isOfSteps)
      if (turns.length > 0) return list(context, turns, TURN_COLUMNS)
      const singletons = limits.filter(isSingleton)
      if (singletons.length > 0) return list(context, singletons, SINGLETON_COLUMNS)
      return list(context, limits as Limit[], COLUMNS)
    },
  )
}

type Singleton = Extract<LimitStatus, { kind: 'singleton' }>
type OfSteps = Extract<LimitStatus, { kind: 'step' }>
type Limit = Exclude<LimitStatus, Singleton | OfSteps>

const isSingleton = (limit: LimitStatus): limit is Singleton => limit.kind === 'singleton'

const isOfSteps = (limit: LimitStatus): limit is OfSteps => limit.kind === 'step'

const TURN_COLUMNS: Column<OfSteps>[] = [
  'name',
  'app',
  'key',
  { title: 'TAKEN', cell: ({ taken, limit }) => (limit === undefined ? String(taken) : `${taken} of ${limit}`) },
  { title: 'PERIOD', cell: ({ periodMs }) => (periodMs === undefined ? undefined : `${periodMs / 1000} s`) },
  'waiting',
  'oldestAt',
  'nextTurnAt',
]

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

/** Adds `limits` and `reset-limits` to `perdure workflows`. */
export function limitCommands(workflows: Command): void {
  showCommand(workflows, 'limits', {
    operation: 'setWorkflowLimits',
    description: 'set limits of a workflow, which override the registered ones',
    examples: [
      'perdure workflows limits shop process-order concurrency=2',
      'perdure workflows limits shop process-order concurrency=none throttle=0',
    ],
    moreArguments: ['limit...'],
    body: (_context, ...given) => Object.fromEntries(given.flat().map(limitOf)) as WorkflowLimits,
    lines: shown,
  })
  showCommand(workflows, 'reset-limits', {
    operation: 'removeWorkflowLimits',
    description: 'remove the limits that were set for a workflow: the registered ones apply again',
    examples: ['perdure workflows reset-limits shop process-order'],
    lines: shown,
  })
}

/** The limits that were set, in the form that the command takes. */
export function limitsText(limits: NonNullable<WorkflowDefinition['limits']>): string[] {
  return Object.entries(limits).map(([name, limit]) => `${name}=${limit}`)
}

function shown({ name, limits = {} }: WorkflowDefinition): string[] {
  const set = limitsText(limits)
  return set.length === 0 ? [`${name} has its registered limits`] : [`${name} ${set.join(' ')}`]
}

/** The name and the limit in `concurrency=2`; `none` means the registered limit. */
function limitOf(text: string): [name: string, limit: number | null] {
  const [, name, value] = /^(concurrency|throttle)=(\d+|none)$/.exec(text) ?? []
  if (name === undefined)
    throw new UsageError(`a limit must be concurrency=NUMBER or throttle=NUMBER, or none for the number: ${text}`)
  return [name, value === 'none' ? null : Number(value)]
}
