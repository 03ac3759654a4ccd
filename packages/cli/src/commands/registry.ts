// `perdure apps`, `perdure runners`, `perdure workflows`: list what is registered, pause and delete workflows, delete apps.

import type { App, Runner, WorkflowDefinition } from '@perdure/protocol'
import type { Command } from 'commander'
import { EXIT } from '../command-line/exit.ts'
import { UsageError } from '../command-line/flags.ts'
import { appOption } from '../command-line/options.ts'
import { engineCommand, list, type Session, show } from '../command-line/session.ts'
import type { Column } from '../output/table.ts'
import { plain } from '../output/text.ts'
import { relative } from '../output/time.ts'
import { definitionsCommand } from './definitions.ts'
import { startCommand } from './start.ts'

/** Adds `perdure apps`, `runners` and `workflows` to the program. */
export function registryCommands(program: Command): void {
  const apps = program.command('apps')
  engineCommand(apps.description('list apps'), ['perdure apps'], async session =>
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
  definitionsCommand(workflows)
  startCommand(workflows)
  for (const [verb, operation, description] of ACTIONS) {
    const command = workflows.command(`${verb} <app> <name>`).description(description)
    engineCommand(command, [`perdure workflows ${verb} shop process-order`], async (session, app = '', name = '') => {
      const workflow = await session.client[operation]({ app, name }, session)
      return show(session, workflow, () => [`${name} ${workflow.pausedAt === undefined ? 'starts runs' : 'is paused'}`])
    })
  }
  deleteCommands(workflows, apps)
}

/** Adds `delete` to `perdure workflows` and `perdure apps`. */
function deleteCommands(workflows: Command, apps: Command): void {
  const ofWorkflow = deleting(workflows, 'delete <app> <name>', 'delete a workflow with its schedules and buffers')
  engineCommand<Deleting>(
    ofWorkflow,
    ['perdure workflows delete shop process-order', 'perdure workflows delete shop process-order --force --yes'],
    async (session, app = '', name = '') => {
      if (!(await isWanted(session, `Delete the workflow ${name} of ${app}?`))) return EXIT.refused
      await session.client.deleteWorkflow({ app, name, force: session.options.force === true }, session)
      return show(session, { app, name, deleted: true }, () => [plain(`${name} is deleted`)])
    },
  )
  const ofApp = deleting(apps, 'delete <app>', 'delete an app with its workflows and runners')
  engineCommand<Deleting>(ofApp, ['perdure apps delete shop'], async (session, app = '') => {
    if (!(await isWanted(session, `Delete the app ${app} with all of its workflows?`))) return EXIT.refused
    await session.client.deleteApp({ app, force: session.options.force === true }, session)
    return show(session, { app, deleted: true }, () => [plain(`${app} is deleted`)])
  })
}

interface Deleting {
  force?: true
  yes?: true
}

function deleting(parent: Command, usage: string, description: string): Command {
  return parent
    .command(usage)
    .description(description)
    .option('--force', 'also while live runners serve it: they lose their claim')
    .option('-y, --yes', 'do not ask for confirmation')
}

async function isWanted({ options, terminal }: Session<Deleting>, question: string): Promise<boolean> {
  if (options.yes) return true
  if (!terminal.interactive) throw new UsageError('without a terminal to ask on, give --yes')
  return terminal.confirm(question)
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
  {
    title: 'UNDER WAY',
    cell: ({ inFlight, room }) => (room === undefined ? String(inFlight) : `${inFlight} of ${inFlight + room}`),
    leave: 6,
  },
  { title: 'PASSES/MIN', cell: ({ passesPerMin }) => String(passesPerMin), leave: 7 },
  { title: 'P95', cell: ({ p95Ms }) => (p95Ms === undefined ? undefined : `${p95Ms} ms`), leave: 8 },
  { title: 'FAILURES', cell: ({ failures }) => String(failures), leave: 9 },
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
