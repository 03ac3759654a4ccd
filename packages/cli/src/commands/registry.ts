// `perdure apps`, `perdure runners`, `perdure workflows`: list what is registered.

import type { App, Runner, WorkflowDefinition } from '@perdure/protocol'
import type { Command } from 'commander'
import { appOption } from '../command-line/options.ts'
import { engineCommand, list, type Session } from '../command-line/session.ts'
import type { Column } from '../output/table.ts'
import { relative } from '../output/time.ts'

interface AppFilter {
  app?: string
}

/** Adds `perdure apps`, `runners` and `workflows` to the program. */
export function registryCommands(program: Command): void {
  engineCommand(program.command('apps').description('list apps'), ['perdure apps'], async session => {
    const { client, terminal } = session
    const columns: Column<App>[] = [
      { title: 'APP', cell: app => app.name },
      { title: 'FIRST SEEN', cell: app => relative(app.createdAt, terminal.now()) },
    ]
    await list(session, await client.listApps({}, session), { columns })
    return undefined
  })

  const runners = program
    .command('runners')
    .description('list runners, including stale ones')
    .addOption(appOption())
  engineCommand<AppFilter>(
    runners,
    ['perdure runners', 'perdure runners --app shop --json'],
    async session => {
      const { app } = session.options
      await list(session, await session.client.listRunners({ app }, session), {
        columns: runnerColumns(session),
      })
      return undefined
    },
  )

  const workflows = program
    .command('workflows')
    .description('list workflow definitions')
    .addOption(appOption())
  engineCommand<AppFilter>(
    workflows,
    ['perdure workflows', 'perdure workflows --app shop --json'],
    async session => {
      const { app } = session.options
      const rows = await session.client.listWorkflows({ app }, session)
      await list(session, rows, { columns: workflowColumns(session) })
      return undefined
    },
  )
}

function runnerColumns({ terminal }: Session<unknown>): Column<Runner>[] {
  return [
    { title: 'RUNNER', cell: runner => runner.runnerId, whole: true },
    { title: 'APP', cell: runner => runner.app },
    {
      title: 'LIVE',
      cell: ({ live }) => ({ text: live ? 'live' : 'stale', colour: live ? 'green' : 'red' }),
      whole: true,
    },
    { title: 'SEEN', cell: runner => relative(runner.lastSeenAt, terminal.now()) },
    {
      title: 'SDK',
      cell: ({ sdkName, version }) => [sdkName, version].filter(Boolean).join(' ') || undefined,
    },
    {
      title: 'RUNTIME',
      cell: ({ runtime, framework }) => [runtime, framework].filter(Boolean).join('/') || undefined,
    },
    {
      title: 'KEY',
      cell: ({ keyMatches }) => (keyMatches === undefined ? undefined : keyMatches ? 'matches' : 'differs'),
    },
    { title: 'URL', cell: runner => runner.url },
  ]
}

function workflowColumns({ terminal }: Session<unknown>): Column<WorkflowDefinition>[] {
  return [
    { title: 'WORKFLOW', cell: workflow => workflow.name, whole: true },
    { title: 'APP', cell: workflow => workflow.app },
    { title: 'TRIGGERS', cell: triggersOf },
    { title: 'ATTEMPTS', cell: workflow => String(workflow.retry.maxAttempts) },
    {
      title: 'NEXT RUN',
      cell: ({ schedules }) => {
        const next = schedules.map(({ nextRunAt }) => nextRunAt).sort()[0]
        return next === undefined ? undefined : relative(next, terminal.now())
      },
    },
    { title: 'UPDATED', cell: workflow => relative(workflow.updatedAt, terminal.now()) },
  ]
}

function triggersOf({ triggers }: WorkflowDefinition): string {
  return triggers.map(trigger => ('cron' in trigger ? trigger.cron : trigger.event)).join(', ')
}
