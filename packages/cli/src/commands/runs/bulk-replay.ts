// `perdure runs bulk-replay`: replays the finished runs that match a filter.
//
// One call of the engine replays the newest matches up to a limit. Another call would replay the same runs again, and
// their forks too, because a fork is newer than its source and matches as well. Therefore `--all` does not repeat the
// call: it lists the matches page by page towards older runs, where no fork can appear, and replays each by its id.

import { ApiError, type Client } from '@perdure/client'
import { type BulkReplayReply, type BulkReplayRequest, type RunSummary, TERMINAL_STATUSES } from '@perdure/protocol'
import type { Command } from 'commander'
import { EXIT } from '../../command-line/exit.ts'
import { UsageError } from '../../command-line/flags.ts'
import { appOption, runTypeOption, sinceOption, statusOption } from '../../command-line/options.ts'
import { engineCommand, type Session, show } from '../../command-line/session.ts'

type Filter = BulkReplayRequest
interface BulkOptions extends Filter {
  all?: true
  yes?: true
}

/** A call forks up to a thousand runs. */
const CALL_TIMEOUT_MS = 300_000
const PAGE = 200
const IN_FLIGHT = 8
const FINISHED: readonly string[] = TERMINAL_STATUSES

/** Adds `bulk-replay` to `perdure runs`. */
export function bulkReplayCommand(runs: Command): void {
  const command = runs
    .command('bulk-replay')
    .description('replay the finished runs that match a filter, newest first; at least one filter is needed')
    .addOption(appOption())
    .option('--workflow <name>', 'only runs of this workflow')
    .addOption(statusOption())
    .addOption(runTypeOption())
    .addOption(sinceOption())
    .option('--all', "replay every match, one by one, beyond the engine's limit per call")
    .option('-y, --yes', 'do not ask for confirmation')
  engineCommand<BulkOptions>(
    command,
    [
      'perdure runs bulk-replay --status failed --since 1h',
      'perdure runs bulk-replay --workflow process-order --status failed --all --yes',
    ],
    bulkReplay,
  )
}

async function bulkReplay(session: Session<BulkOptions>): Promise<number> {
  const { client, options, terminal } = session
  const filter = filterOf(options)
  if (
    terminal.interactive &&
    !options.yes &&
    !(await terminal.confirm(`Replay every finished run with ${words(filter)}?`))
  ) {
    terminal.say('nothing was replayed')
    return EXIT.refused
  }
  const reply = options.all
    ? await replayAll(session, filter)
    : await client.bulkReplayRuns({ body: filter }, { signal: session.signal, timeoutMs: CALL_TIMEOUT_MS })
  await show(session, reply, () => [summary(reply)])
  if (reply.capped) {
    terminal.say('more runs match: narrow the filter. The same call again would replay the same runs once more;')
    terminal.say('--all, instead of it, replays every match once.')
  }
  return reply.failed > 0 ? EXIT.refused : EXIT.ok
}

function filterOf({ app, workflow, status, runType, since }: BulkOptions): Filter {
  const filters: Record<keyof Filter, string | undefined> = { app, workflow, status, runType, since }
  const given = Object.entries(filters).filter(([, value]) => value !== undefined)
  if (given.length === 0) {
    throw new UsageError('give a filter: --app, --workflow, --status, --run-type or --since')
  }
  return Object.fromEntries(given) as Filter
}

const words = (filter: Filter) =>
  Object.entries(filter)
    .map(([name, value]) => `${name} ${value}`)
    .join(', ')

const summary = ({ matched, replayed, skipped, failed }: BulkReplayReply) =>
  `${matched} matched, ${replayed} replayed, ${skipped} skipped (not finished), ${failed} failed`

async function replayAll(session: Session<BulkOptions>, filter: Filter): Promise<BulkReplayReply> {
  const { client, terminal, signal } = session
  const reply = { matched: 0, replayed: 0, skipped: 0, failed: 0, capped: false }
  let batch: RunSummary[] = []
  const flush = async () => {
    const outcomes = await Promise.all(batch.map(run => replayOne(client, run, signal)))
    for (const outcome of outcomes) reply[outcome] += 1
    batch = []
  }
  try {
    for await (const run of matches(client, filter, signal)) {
      reply.matched += 1
      batch.push(run)
      if (batch.length === IN_FLIGHT) await flush()
      if (reply.matched % PAGE === 0) terminal.say(`${summary(reply)} so far`)
    }
    await flush()
    return reply
  } catch (error) {
    terminal.say(`stopped after: ${summary(reply)}`)
    throw error
  }
}

/**
 * The runs that match. The engine's list has no filter by exact workflow, so `q` finds them, and others are skipped.
 */
async function* matches(client: Client, filter: Filter, signal: AbortSignal): AsyncGenerator<RunSummary> {
  const { workflow, ...rest } = filter
  const query = workflow === undefined ? rest : { ...rest, q: workflow }
  for await (const run of client.pages.listRuns({ ...query, limit: PAGE }, { signal })) {
    if (workflow === undefined || run.workflow === workflow) yield run
  }
}

async function replayOne(
  client: Client,
  { id, status }: RunSummary,
  signal: AbortSignal,
): Promise<'replayed' | 'skipped' | 'failed'> {
  if (!FINISHED.includes(status)) return 'skipped'
  try {
    await client.replayRun({ id }, { signal })
    return 'replayed'
  } catch (error) {
    // 404 and 409 concern only this run, which may be gone or changed by now. Another refusal would meet every run.
    if (error instanceof ApiError && (error.status === 404 || error.status === 409)) return 'failed'
    throw error
  }
}
