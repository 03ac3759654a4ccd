// `perdure events redrive`: starts a workflow with an event of the log, or with all events of a name.

import type { Command } from 'commander'
import { type EngineContext, engineCommand, show } from '../command-line/commands.ts'
import { UsageError } from '../command-line/flags.ts'
import { wholeId } from '../command-line/ids.ts'
import { parametersOf } from '../command-line/parameters.ts'
import { plain } from '../output/text.ts'

interface RedriveOptions {
  workflow: string
  app?: string
  name?: string
  since?: string
  until?: string
  dryRun?: true
}

/** The events of the log that start the workflow. */
const FILTERS = parametersOf('listEvents', {
  only: ['name', 'since', 'until'],
  texts: { name: 'without an id: all events of this name, oldest first' },
})

/** Adds `redrive` to `perdure events`. */
export function redriveCommand(events: Command): void {
  const command = events
    .command('redrive [id]')
    .description('start a workflow with one event, or with each event of a name that did not start it')
    .requiredOption('--workflow <name>', 'the workflow to start, whatever its triggers are')
    .option('--app <name>', 'its app, if several have a workflow of that name')
    .option('--dry-run', 'without an id: count, and start nothing')
  for (const { option } of FILTERS) command.addOption(option)
  engineCommand<RedriveOptions>(
    command,
    [
      'perdure events redrive evt_01K... --workflow process-order',
      'perdure events redrive --name order.placed --since 7d --workflow process-order --dry-run',
    ],
    redrive,
  )
}

async function redrive(context: EngineContext<RedriveOptions>, given?: string): Promise<undefined> {
  const { client, options } = context
  const { workflow, app, name, since, until, dryRun } = options
  if ((given === undefined) === (name === undefined))
    throw new UsageError('give the id of an event or --name, and not both')
  if (given !== undefined) {
    if (since ?? until ?? dryRun) throw new UsageError('--since, --until and --dry-run need --name')
    const run = await client.redriveEvent({ id: await wholeId(context, given), body: { workflow, app } }, context)
    return show(context, run, () => [plain(`${run.id}  ${run.app}/${run.workflow}  ${run.status}`)])
  }
  if (since === undefined)
    throw new UsageError('give --since: without it all events of the log would start the workflow')
  const body = { name: name as string, workflow, app, since, until, dryRun }
  const { capped, ...counts } = await client.redriveEvents({ body }, context)
  const { matched, started, skipped, failed } = counts
  const verb = dryRun ? 'would be started' : 'started'
  return show(context, { ...counts, capped }, () => [
    `${matched} events, ${started} runs ${verb}, ${skipped} skipped, ${failed} failed`,
    ...(capped ? ['more events remain: repeat the command'] : []),
  ])
}
