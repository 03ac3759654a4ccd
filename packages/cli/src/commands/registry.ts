// `perdure apps`, `perdure runners`, `perdure workflows`: list what is registered.

import type { App, Runner, WorkflowDefinition } from '@perdure/protocol'
import type { Command } from 'commander'
import { appOption } from '../command-line/options.ts'
import { engineCommand, list, show } from '../command-line/session.ts'
import type { Column } from '../output/table.ts'
import { relative } from '../output/time.ts'

/** Adds `perdure apps`, `runners` and `workflows` to the program. */
export function registryCommands(program: Command): void {
  engineCommand(program.command('apps').description('list apps'), ['perdure apps'], async session =>
    list(session, await session.client.listApps({}, session), APP_COLUMNS),
  )

  engineCommand<{ app?: string }>(
    program.command('runners').description('list runners, including stale ones').addOption(appOption()),
    ['perdure runners', 'perdure runners --app shop --json'],
    async session => {
      const { app } = session.options
      return list(session, await session.client.listRunners({ app }, session), RUNNER_COLUMNS)
    },
  )

  const workflows = program.command('workflows')
  engineCommand<{ app?: string }>(
    workflows.description('list workflow definitions').addOption(appOption()),
    ['perdure workflows', 'perdure workflows --app shop --json'],
    async session => {
      const { app } = session.options
      return list(session, await session.client.listWorkflows({ app }, session), WORKFLOW_COLUMNS)
    },
  )
  for (const [verb, operation, description] of ACTIONS) {
    const command = workflows.command(`${verb} <app> <name>`).description(description)
    engineCommand(command, [`perdure workflows ${verb} shop process-order`], async (session, app = '', name = '') => {
      const workflow = await session.client[operation]({ app, name }, session)
      return show(session, workflow, () => [`${name} ${workflow.pausedAt === undefined ? 'starts runs' : 'is paused'}`])
    })
  }
}

const ACTIONS = [
  ['pause', 'pauseWorkflow', 'pause a workflow: its new runs stay queued'],
  ['resume', 'resumeWorkflow', 'resume a paused workflow: the runs that wait start'],
] as const

const APP_COLUMNS: Column<App>[] = [
  { title: 'APP', cell: app => app.name },
  { title: 'FIRST SEEN', cell: app => relative(app.createdAt) },
]

const RUNNER_COLUMNS: Column<Runner>[] = [
  { title: 'RUNNER', cell: runner => runner.runnerId, whole: true },
  { title: 'APP', cell: runner => runner.app },
  {
    title: 'LIVE',
    cell: ({ live }) => ({ text: live ? 'live' : 'stale', colour: live ? 'green' : 'red' }),
    whole: true,
  },
  { title: 'SEEN', cell: runner => relative(runner.lastSeenAt), leave: 4 },
  { title: 'SDK', cell: ({ sdkName, version }) => [sdkName, version].filter(Boolean).join(' ') || undefined, leave: 2 },
  {
    title: 'RUNTIME',
    cell: ({ runtime, framework }) => [runtime, framework].filter(Boolean).join('/') || undefined,
    leave: 1,
  },
  {
    title: 'KEY',
    cell: ({ keyMatches }) => (keyMatches === undefined ? undefined : keyMatches ? 'matches' : 'differs'),
    leave: 5,
  },
  { title: 'URL', cell: runner => runner.url, leave: 3 },
]

const WORKFLOW_COLUMNS: Column<WorkflowDefinition>[] = [
  { title: 'WORKFLOW', cell: workflow => workflow.name, whole: true },
  { title: 'APP', cell: workflow => workflow.app },
  { title: 'TRIGGERS', cell: triggersOf },
  { title: 'PAUSED', cell: ({ pausedAt }) => (pausedAt === undefined ? undefined : relative(pausedAt)), leave: 1 },
  { title: 'ATTEMPTS', cell: workflow => String(workflow.retry.maxAttempts), leave: 1 },
  { title: 'NEXT RUN', cell: nextRunOf, leave: 3 },
  { title: 'UPDATED', cell: workflow => relative(workflow.updatedAt), leave: 2 },
]

function nextRunOf({ schedules }: WorkflowDefinition): string | undefined {
  const next = schedules.map(({ nextRunAt }) => nextRunAt).sort()[0]
  return next && relative(next)
}

function triggersOf({ triggers }: WorkflowDefinition): string {
  return triggers.map(trigger => ('cron' in trigger ? trigger.cron : trigger.event)).join(', ')
}
