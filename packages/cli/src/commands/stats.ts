// `perdure stats`: runs in numbers, by workflow and over time.

import type { RunFacets, StepStats, WorkflowStats } from '@perdure/protocol'
import type { Command } from 'commander'
import { group, list } from '../command-line/commands.ts'
import { listCommand, operationCommand, showCommand } from '../command-line/operation.ts'
import { type Column, table } from '../output/table.ts'
import { relative } from '../output/time.ts'

/** Adds `perdure stats` to the program. */
export function statsCommands(program: Command): void {
  const stats = group(program, 'stats', {
    description: 'count runs: by workflow, over time, and the steps that take longest',
    examples: ['perdure stats workflows', 'perdure stats series --since 7d --step 1d'],
  })
  listCommand(stats, 'workflows', {
    operation: 'getWorkflowStats',
    description: 'count the runs of each workflow since yesterday, the busiest first',
    examples: ['perdure stats workflows', 'perdure stats workflows --since 7d --json | jq .lastFailure'],
    rows: 'workflows',
    texts: { trend: 'also count the runs of each workflow over time, in at most this many intervals' },
    columns: [
      { field: 'workflow', whole: true },
      'app',
      ...TALLY_COLUMNS,
      'inFlight',
      { field: 'held', leave: 1 },
      { title: 'ON FAILURE', cell: ({ onFailure }) => followOnCell(onFailure), leave: 6 },
      { title: 'CLEANUP', cell: ({ cleanup }) => followOnCell(cleanup), leave: 7 },
      { title: 'TREND', cell: ({ trend }) => trend?.started.join(' '), leave: 5 },
      { title: 'LAST FAILURE', cell: ({ lastFailure }) => lastFailure && relative(lastFailure.at), leave: 4 },
    ],
  })
  operationCommand(
    stats,
    'steps',
    {
      operation: 'getWorkflowStats',
      description: 'list the steps that took longest in the newest 200 ended runs',
      examples: ['perdure stats steps --workflow process-order'],
      only: ['app', 'workflow', 'since'],
    },
    (context, found) => list(context, found.flatMap(stepsOf), STEP_COLUMNS),
  )
  listCommand(stats, 'series', {
    operation: 'getRunSeries',
    description: 'count runs over time, by default of 24 hours by the hour',
    examples: ['perdure stats series', 'perdure stats series --since 30d --step 1d --workflow process-order'],
    columns: [{ title: 'FROM', cell: ({ at }) => at, whole: true }, ...TALLY_COLUMNS],
  })
  showCommand(stats, 'facets', {
    operation: 'getRunFacets',
    description: 'count runs by status, app, workflow and what they wait for',
    examples: ['perdure stats facets', 'perdure stats facets --app shop --json | jq .waitingFor'],
    lines: (facets, { terminal }) => table(rowsOf(facets), FACET_COLUMNS, terminal),
  })
}

const TALLY_COLUMNS = [
  'started',
  'succeeded',
  'failed',
  { field: 'cancelled', leave: 3 },
  'p50Ms',
  'p95Ms',
  { field: 'queueP95Ms', leave: 2 },
] as const

/** The follow-on runs, and how many of them failed; nothing if there are none. */
function followOnCell({ succeeded, failed, cancelled, inFlight }: WorkflowStats['onFailure']) {
  const runs = succeeded + failed + cancelled + inFlight
  if (runs === 0) return undefined
  return failed === 0 ? String(runs) : { text: `${runs}, ${failed} failed`, colour: 'red' as const }
}

type StepOfWorkflow = StepStats & { app: string; workflow: string }

function stepsOf({ app, workflow, steps }: WorkflowStats): StepOfWorkflow[] {
  return steps.map(step => ({ app, workflow, ...step }))
}

const STEP_COLUMNS: Column<StepOfWorkflow>[] = [
  { field: 'name', title: 'STEP', whole: true },
  'workflow',
  'app',
  'count',
  'totalMs',
  'p95Ms',
]

interface Facet {
  facet: keyof RunFacets
  value: string
  runs: number
}

const FACET_COLUMNS: Column<Facet>[] = [{ field: 'facet', title: 'BY' }, { field: 'value', whole: true }, 'runs']

/** Every status, and every other value that has runs. */
function rowsOf({ status, app, workflow, waitingFor, kind }: RunFacets): Facet[] {
  const present = (facet: 'waitingFor' | 'kind', counts: Record<string, number>): Facet[] =>
    Object.entries(counts).flatMap(([value, runs]) => (runs === 0 ? [] : [{ facet, value, runs }]))
  return [
    ...Object.entries(status).map(([value, runs]) => ({ facet: 'status', value, runs }) as const),
    ...app.map(({ app, runs }) => ({ facet: 'app', value: app, runs }) as const),
    ...workflow.map(
      ({ app, workflow, runs }) => ({ facet: 'workflow', value: `${workflow} of ${app}`, runs }) as const,
    ),
    ...present('waitingFor', waitingFor),
    ...(kind.onFailure || kind.cleanup ? present('kind', kind) : []),
  ]
}
