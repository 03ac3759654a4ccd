// `perdure runs result`: prints the result of a run, once it has ended.

import type { RunResult } from '@perdure/protocol'
import type { Command } from 'commander'
import { type EngineContext, engineCommand } from '../../command-line/commands.ts'
import { EXIT } from '../../command-line/exit.ts'
import { checkWait, sayTimeout } from '../../command-line/follow.ts'
import { wholeId } from '../../command-line/ids.ts'
import { timeoutOption, type WaitOptions } from '../../command-line/options.ts'
import { errorHead } from '../../output/errors.ts'
import { jsonLine, prettyJson } from '../../output/text.ts'

interface ResultOptions extends WaitOptions {
  wait?: true
}

/** The longest wait of one request, in milliseconds; a longer wait takes several requests. */
const WAIT_MS_MAX = 25_000

/** Adds `result` to `perdure runs`. */
export function resultCommand(runs: Command): void {
  const command = runs
    .command('result <id>')
    .description('print the result of a run; exit with 1 if it failed or was cancelled, with 4 if it has not ended')
    .option('--wait', 'wait for its end')
    .addOption(timeoutOption())
  engineCommand<ResultOptions>(
    command,
    ['perdure runs result run_01K...', 'perdure runs result run_01K... --wait --timeout 5m --json | jq .result'],
    async (context, given = '') => {
      checkWait(context.options)
      const id = await wholeId(context, given)
      const end = await endOf(context, id)
      if (!end) return sayTimeout(context, id)
      await print(context, end)
      return end.status === 'succeeded' ? EXIT.ok : EXIT.refused
    },
  )
}

/** The end of the run; undefined if it does not end in time. */
async function endOf(context: EngineContext<ResultOptions>, id: string): Promise<RunResult | undefined> {
  const { client, options, signal } = context
  const deadline = Date.now() + (options.timeout ?? Number.POSITIVE_INFINITY)
  for (;;) {
    const wait = options.wait ? Math.max(0, Math.min(WAIT_MS_MAX, deadline - Date.now())) : 0
    const end = await client.getRunResult({ id, wait }, { signal })
    if (isEnd(end)) return end
    if (!options.wait || Date.now() >= deadline) return undefined
  }
}

const isEnd = ({ status }: RunResult) => status === 'succeeded' || status === 'failed' || status === 'cancelled'

async function print({ terminal, json }: EngineContext<unknown>, end: RunResult): Promise<void> {
  const { runId, status, result, error } = end
  if (json) return terminal.out(jsonLine(end))
  if (status !== 'succeeded') terminal.say(`${runId} ${status}${error ? `: ${errorHead(error)}` : ''}`)
  else if (result !== undefined) await terminal.out(prettyJson(result))
}
