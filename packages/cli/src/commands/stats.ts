// `perdure stats`: runs in numbers, by workflow and over time.

import {
  type RUN_KINDS,
  type RunFacets,
  type RunSeriesPoint,
  type RunStatus,
  SERIES_STEPS,
  type StepStats,
  type WaitingFor,
  type WorkflowStats,
} from '@perdure/protocol'
import { type Command, Option } from 'commander'
import {
  appOption,
  limitOption,
  runKindOption,
  sinceOption,
  statusesOption,
  trendOption,
  untilOption,
  waitingForOption,
} from '../command-line/options.ts'
import { engineCommand, group, list, show } from '../command-line/session.ts'
import { type Column, table } from '../output/table.ts'
import { duration, relative } from '../output/time.ts'

interface Scope {
  app?: string
  workflow?: string
  since?: string
}

interface FacetScope extends Scope {
  until?: string
  status?: RunStatus[]
  waitingFor?: WaitingFor['kind']
  kind?: (typeof RUN_KINDS)[number]
}

interface Facet {
  facet: keyof RunFacets
  value: string
  runs: number
}

/** Adds `perdure stats` to the program. */
export function statsCommands(program: Command): void {
  const stats = group(program, 'stats', {
    description: 'count runs: by workflow, over time, and the steps that take longest',
    examples: ['perdure stats workflows', 'perdure stats series --since 7d --step 1d'],
  })
  const scoped = (name: string, description: string, what: string) =>
    stats
      .command(name)
      .description(description)
      .addOption(appOption())
      .option('--workflow <name>', 'only runs of this workflow')
      .addOption(sinceOption(what))

  engineCommand<Scope & { until?: string; limit: number; trend?: number }>(
    scoped('workflows', 'count the runs of each workflow since yesterday, the busiest first', 'or ended runs')
      .addOption(untilOption('or ended runs'))
      .addOption(limitOption('workflows', 100))
      .addOption(trendOption('runs of each workflow')),
    ['perdure stats workflows', 'perdure stats workflows --since 7d --json | jq .lastFailure'],
    async session => {
      const { app, workflow, since, until, limit, trend } = session.options
      const query = { app, workflow, since, until, limit, trend }
      return list(session, await session.client.getWorkflowStats(query, session), WORKFLOW_COLUMNS)
    },
  )

  engineCommand<Scope>(
    scoped('steps', 'list the steps that took longest in the newest 200 ended runs', 'or ended runs'),
    ['perdure stats steps --workflow process-order'],
    async session => {
      const { app, workflow, since } = session.options
      const found = await session.client.getWorkflowStats({ app, workflow, since }, session)
      return list(session, found.flatMap(stepsOf), STEP_COLUMNS)
    },
  )

  engineCommand<Scope & { until?: string; step: RunSeriesStep }>(
    scoped('series', 'count runs over time, by default of 24 hours by the hour', 'or ended runs')
      .addOption(untilOption('or ended runs'))
      .addOption(new Option('--step <length>', 'the length of a span').choices(SERIES_STEPS).default('1h')),
    ['perdure stats series', 'perdure stats series --since 30d --step 1d --workflow process-order'],
    async session => {
      const { app, workflow, since, until, step } = session.options
      const query = { app, workflow, since, until, step }
      return list(session, await session.client.getRunSeries(query, session), SERIES_COLUMNS)
    },
  )

  engineCommand<FacetScope>(
    scoped('facets', 'count runs by status, app, workflow and what they wait for', 'that are in flight, or ended')
      .addOption(untilOption('or ended runs'))
      .addOption(statusesOption())
      .addOption(waitingForOption())
      .addOption(runKindOption()),
    ['perdure stats facets', 'perdure stats facets --app shop --json | jq .waitingFor'],
    async session => {
      const { app, workflow, since, until, status, waitingFor, kind } = session.options
      const query = { app, workflow, since, until, status, waitingFor, kind }
      const facets = await session.client.getRunFacets(query, session)
      return show(session, facets, () => table(rowsOf(facets), FACET_COLUMNS, session.terminal))
    },
  )
}

type RunSeriesStep = (typeof SERIES_STEPS)[number]
type Tally = Pick<RunSeriesPoint, 'started' | 'succeeded' | 'failed' | 'cancelled' | 'p50Ms' | 'p95Ms' | 'queueP95Ms'>
type StepOfWorkflow = StepStats & { app: string; workflow: string }

const took = (ms: number | undefined) => (ms === undefined ? undefined : duration(ms))

const TALLY_COLUMNS: Column<Tally>[] = [
  { title: 'STARTED', cell: ({ started }) => String(started) },
  { title: 'SUCCEEDED', cell: ({ succeeded }) => String(succeeded) },
  {
    title: 'FAILED',
    cell: ({ failed }) => ({ text: String(failed), colour: failed > 0 ? 'red' : undefined }),
  },
  { title: 'CANCELLED', cell: ({ cancelled }) => String(cancelled), leave: 3 },
  { title: 'P50', cell: ({ p50Ms }) => took(p50Ms) },
  { title: 'P95', cell: ({ p95Ms }) => took(p95Ms) },
  { title: 'QUEUE P95', cell: ({ queueP95Ms }) => took(queueP95Ms), leave: 2 },
]

const WORKFLOW_COLUMNS: Column<WorkflowStats>[] = [
  { title: 'WORKFLOW', cell: stats => stats.workflow, whole: true },
  { title: 'APP', cell: stats => stats.app },
  ...TALLY_COLUMNS,
  { title: 'IN FLIGHT', cell: stats => String(stats.inFlight) },
  { title: 'HELD', cell: stats => String(stats.held), leave: 1 },
  { title: 'ON FAILURE', cell: ({ onFailure }) => onFailureCell(onFailure), leave: 6 },
  { title: 'TREND', cell: ({ trend }) => trend?.started.join(' '), leave: 5 },
  { title: 'LAST FAILURE', cell: ({ lastFailure }) => lastFailure && relative(lastFailure.at), leave: 4 },
]

/** Runs of the failure handler, and how many of them failed; nothing without one. */
function onFailureCell({ succeeded, failed, cancelled, inFlight }: WorkflowStats['onFailure']) {
  const runs = succeeded + failed + cancelled + inFlight
  if (runs === 0) return undefined
  return failed === 0 ? String(runs) : { text: `${runs}, ${failed} failed`, colour: 'red' as const }
}

const SERIES_COLUMNS: Column<RunSeriesPoint>[] = [
  { title: 'FROM', cell: point => point.at, whole: true },
  ...TALLY_COLUMNS,
]

const STEP_COLUMNS: Column<StepOfWorkflow>[] = [
  { title: 'STEP', cell: step => step.name, whole: true },
  { title: 'WORKFLOW', cell: step => step.workflow },
  { title: 'APP', cell: step => step.app },
  { title: 'COUNT', cell: step => String(step.count) },
  { title: 'TOTAL', cell: step => duration(step.totalMs) },
  { title: 'P95', cell: step => duration(step.p95Ms) },
]

const FACET_COLUMNS: Column<Facet>[] = [
  { title: 'BY', cell: facet => facet.facet },
  { title: 'VALUE', cell: facet => facet.value, whole: true },
  { title: 'RUNS', cell: facet => String(facet.runs) },
]

/** Every status, and whatever else has runs. */
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
    ...(kind.onFailure ? present('kind', kind) : []),
  ]
}

function stepsOf({ app, workflow, steps }: WorkflowStats): StepOfWorkflow[] {
  return steps.map(step => ({ app, workflow, ...step }))
}
