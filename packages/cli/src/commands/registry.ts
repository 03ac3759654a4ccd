// `perdure apps`, `perdure runners`, `perdure workflows`: list what is registered, pause and delete workflows, delete apps.

import type { WorkflowDefinition } from '@perdure/protocol'
import type { Command } from 'commander'
import { doneCommand, listCommand, showCommand } from '../command-line/operation.ts'
import { relative } from '../output/time.ts'
import { definitionsCommand } from './definitions.ts'
import { limitCommands, limitsText } from './limits.ts'
import { startCommand } from './start.ts'

const FORCE = { force: 'even while live runners serve it; their registrations no longer apply' }

/** Adds `perdure apps`, `runners` and `workflows` to the program. */
export function registryCommands(program: Command): void {
  const apps = listCommand(program, 'apps', {
    operation: 'listApps',
    description: 'list apps',
    examples: ['perdure apps'],
    columns: [
      { field: 'name', title: 'APP' },
      { field: 'createdAt', title: 'FIRST SEEN' },
    ],
  })
  runnersCommand(program)
  const workflows = workflowsCommand(program)
  definitionsCommand(workflows)
  startCommand(workflows)
  limitCommands(workflows)
  for (const [verb, description] of VERBS)
    showCommand(workflows, verb, {
      operation: `${verb}Workflow`,
      description,
      examples: [`perdure workflows ${verb} shop process-order`],
      lines: ({ name, pausedAt }) => [`${name} ${pausedAt === undefined ? 'starts runs' : 'is paused'}`],
    })
  doneCommand(workflows, 'delete', {
    operation: 'deleteWorkflow',
    description: 'delete a workflow with its schedules and buffers',
    examples: [
      'perdure workflows delete shop process-order',
      'perdure workflows delete shop process-order --force --yes',
    ],
    texts: FORCE,
    confirm: ({ app, name }) => `Delete the workflow ${name} of ${app}?`,
    done: 'deleted',
    line: ({ name }) => `${name} is deleted`,
  })
  doneCommand(apps, 'delete', {
    operation: 'deleteApp',
    description: 'delete an app with its workflows and runners',
    examples: ['perdure apps delete shop'],
    texts: FORCE,
    confirm: ({ app }) => `Delete the app ${app} with all of its workflows?`,
    done: 'deleted',
    line: ({ app }) => `${app} is deleted`,
  })
}

const VERBS = [
  ['pause', 'pause a workflow: its new runs stay queued'],
  ['resume', 'resume a paused workflow: the runs that wait start'],
] as const

function runnersCommand(program: Command): void {
  listCommand(program, 'runners', {
    operation: 'listRunners',
    description: 'list runners, including stale ones',
    examples: ['perdure runners', 'perdure runners --app shop --json'],
    columns: [
      { field: 'runnerId', title: 'RUNNER' },
      'app',
      {
        title: 'LIVE',
        cell: ({ live }) => ({ text: live ? 'live' : 'stale', colour: live ? 'green' : 'red' }),
        whole: true,
      },
      { field: 'lastSeenAt', title: 'SEEN', leave: 4 },
      {
        title: 'UNDER WAY',
        cell: ({ inFlight, room }) => (room === undefined ? String(inFlight) : `${inFlight} of ${inFlight + room}`),
        leave: 6,
      },
      { field: 'passesPerMin', title: 'PASSES/MIN', leave: 7 },
      { title: 'P95', cell: ({ p95Ms }) => (p95Ms === undefined ? undefined : `${p95Ms} ms`), leave: 8 },
      { field: 'failures', leave: 9 },
      {
        title: 'SDK',
        cell: ({ sdkName, version }) => [sdkName, version].filter(Boolean).join(' ') || undefined,
        leave: 2,
      },
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
      { field: 'url', leave: 3 },
    ],
  })
}

function workflowsCommand(program: Command): Command {
  return listCommand(program, 'workflows', {
    operation: 'listWorkflows',
    description: 'list workflow definitions',
    examples: ['perdure workflows', 'perdure workflows --app shop --json'],
    columns: [
      { field: 'name', title: 'WORKFLOW', whole: true },
      'app',
      { title: 'TRIGGERS', cell: triggersOf },
      { field: 'pausedAt', leave: 1 },
      { title: 'SET LIMITS', cell: ({ limits = {} }) => limitsText(limits).join(' ') || undefined, leave: 1 },
      { title: 'ATTEMPTS', cell: workflow => String(workflow.retry.maxAttempts), leave: 1 },
      { title: 'NEXT RUN', cell: nextRunOf, leave: 3 },
      { field: 'updatedAt', leave: 2 },
    ],
  })
}

function nextRunOf({ schedules }: WorkflowDefinition): string | undefined {
  const next = schedules.map(({ nextRunAt }) => nextRunAt).sort()[0]
  return next && relative(next)
}

function triggersOf({ triggers }: WorkflowDefinition): string {
  return triggers.map(trigger => ('cron' in trigger ? trigger.cron : trigger.event)).join(', ')
}
