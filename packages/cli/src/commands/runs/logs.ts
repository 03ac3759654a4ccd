// `perdure runs logs`: shows the stored log lines of a run and, with `--follow`, new ones as they arrive.

import type { RunLogLine } from '@perdure/protocol'
import { type Command, Option } from 'commander'
import { type EngineContext, engineCommand, stream } from '../../command-line/commands.ts'
import { wholeId } from '../../command-line/ids.ts'
import { wholeNumber } from '../../command-line/options.ts'
import { logLine } from '../../output/timeline.ts'

interface LogsOptions {
  follow?: true
  from?: number
  limit?: number
}

/** Largest page of log lines that the engine returns. */
const PAGE_MAX = 1000

/** Adds `logs` to `perdure runs`. */
export function logsCommand(runs: Command): void {
  const command = runs
    .command('logs <id>')
    .description("show a run's log lines, oldest first")
    .addOption(new Option('-f, --follow', 'also show new lines as they arrive, until the run ends').conflicts('limit'))
    .addOption(new Option('--from <seq>', 'only lines after this seq').argParser(wholeNumber('a whole number', 0)))
    .addOption(new Option('--limit <n>', 'maximum number of lines').argParser(wholeNumber('a whole number from 1', 1)))
  engineCommand<LogsOptions>(
    command,
    ['perdure runs logs run_01K...', 'perdure runs logs run_01K... -f', 'perdure runs logs run_01K... --json'],
    async (context, given = '') => {
      const id = await wholeId(context, given)
      const lines = context.options.follow ? followed(context, id) : stored(context, id)
      return stream(context, lines, logLine)
    },
  )
}

async function* stored(context: EngineContext<LogsOptions>, id: string): AsyncGenerator<RunLogLine> {
  const { client, options } = context
  let left = options.limit ?? Number.POSITIVE_INFINITY
  for (let from = options.from ?? 0; left > 0; ) {
    const limit = Math.min(left, PAGE_MAX)
    const page = await client.listRunLogs({ id, from, limit }, context)
    yield* page
    const last = page.at(-1)
    if (!last || page.length < limit) return
    left -= page.length
    from = last.seq
  }
}

async function* followed(context: EngineContext<LogsOptions>, id: string): AsyncGenerator<RunLogLine> {
  const { client, options } = context
  for await (const frame of client.streamRun({ id, from: options.from }, context)) {
    if (frame.kind !== 'log') continue
    const { kind: _, runId: __, ...line } = frame
    yield line
  }
}
