// `perdure runs watch`: follows the timeline of one run until it ends, or the status of every run of the namespace.

import type { Command } from 'commander'
import { type EngineContext, engineCommand, stream } from '../../command-line/commands.ts'
import { UsageError } from '../../command-line/flags.ts'
import { watchRun } from '../../command-line/follow.ts'
import { wholeId } from '../../command-line/ids.ts'
import { timeoutOption, type WaitOptions } from '../../command-line/options.ts'
import { runStatusLine } from '../../output/timeline.ts'

/** Adds `watch` to `perdure runs`. */
export function watchCommand(runs: Command): void {
  const command = runs
    .command('watch [id]')
    .description("follow a run's timeline until it ends; without an id, the status of every run")
    .addOption(timeoutOption('with an id, '))
  engineCommand<WaitOptions>(
    command,
    [
      'perdure runs watch run_01K...      # exit code 0: it succeeded; 1: it failed or was cancelled',
      'perdure runs watch run_01K... --timeout 5m',
      'perdure runs watch                 # every run, until interrupted',
      'perdure runs watch --json | jq -c "select(.status == \\"failed\\")"',
    ],
    async (context, given) =>
      given === undefined ? watchAll(context) : watchRun(context, await wholeId(context, given)),
  )
}

async function watchAll(context: EngineContext<WaitOptions>): Promise<undefined> {
  if (context.options.timeout !== undefined) throw new UsageError('--timeout needs the id of a run')
  return stream(context, context.client.streamRuns({}, context), runStatusLine)
}
