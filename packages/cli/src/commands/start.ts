// `perdure workflows start`: starts a run of a workflow directly, without an event.

import type { Command } from 'commander'
import { checkWait, waitForRuns } from '../command-line/follow.ts'
import { attributesOf, attributesOption, jsonOption, timeoutOption, type WaitOptions } from '../command-line/options.ts'
import { engineCommand, type Session, show } from '../command-line/session.ts'
import { plain } from '../output/text.ts'

interface StartOptions extends WaitOptions {
  input?: string
  runId?: string
  attribute?: string[]
  dryRun?: true
  wait?: true
}

/** Adds `start` to `perdure workflows`. */
export function startCommand(workflows: Command): void {
  const command = workflows
    .command('start <app> <name>')
    .description('start a run of a workflow directly, whatever its triggers are')
    .option('--input <json>', 'the input: JSON, @file, or - for standard input')
    .option('--run-id <id>', 'id of the run: run_ and 8 to 64 letters, digits, _ or -; a repeat starts nothing')
    .addOption(attributesOption('an attribute of the run; a number or a boolean is sent as such'))
    .option('--dry-run', 'show what the command would do, and start nothing')
    .option('--wait', 'follow the run; exit with 1 if it does not succeed')
    .addOption(timeoutOption())
  engineCommand<StartOptions>(
    command,
    [
      `perdure workflows start shop fulfil-order --input '{"orderId": "4711"}' --wait`,
      'perdure workflows start shop nightly-report --run-id run_report-2026-08-01',
    ],
    start,
  )
}

async function start(session: Session<StartOptions>, app = '', name = ''): Promise<number | undefined> {
  const { client, terminal, options } = session
  checkWait(options)
  const { input, runId, attribute, dryRun, wait } = options
  const given = input === undefined ? {} : { input: await jsonOption('--input', input, terminal) }
  const body = { runId, dryRun, attributes: attributesOf(attribute), ...given }
  const run = await client.startRun({ app, name, body }, session)
  if (dryRun) {
    // A dry run has a reply of its own.
    const { outcome, paused } = run as unknown as { outcome: string; paused?: true }
    const what = outcome === 'repeat' ? `${runId} is there already` : 'a run would start'
    await show(session, run, () => [plain(`${what}${paused ? ', and wait until the workflow is resumed' : ''}`)])
    return undefined
  }
  await show(session, run, () => [plain(`${run.id}  ${run.app}/${run.workflow}  ${run.status}`)])
  return wait ? waitForRuns(session, [run.id]) : undefined
}
