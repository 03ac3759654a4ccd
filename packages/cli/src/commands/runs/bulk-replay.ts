// `perdure runs bulk-replay`: replays the failed runs that match a filter, or runs of another status. The engine's call takes any
// finished run unless it is given a status; here the user has to request that, because it repeats completed work.
//
// One call of the engine replays the newest matches up to a limit. Another call would replay the same runs again, and their forks
// too, because a fork is newer than its source and matches as well. Therefore `--all` does not repeat the call: it lists the
// matches page by page towards older runs, where no fork can appear, and replays each by its id.

import { ApiError, type Client } from '@perdure/client'
import {
  type BulkReplayReply,
  type BulkReplayRequest,
  type RunStatus,
  type RunSummary,
  TERMINAL_STATUSES,
} from '@perdure/protocol'
import { type Command, Option } from 'commander'
import { type EngineContext, engineCommand, show } from '../../command-line/commands.ts'
import { EXIT } from '../../command-line/exit.ts'
import { UsageError } from '../../command-line/flags.ts'
import { givenOf, parametersOf } from '../../command-line/parameters.ts'

type Filter = BulkReplayRequest
interface BulkOptions {
  status: RunStatus | typeof ANY_STATUS
  all?: true
  dryRun?: true
  yes?: true
}

/** The `--status` of a replay of every finished run. */
const ANY_STATUS = 'any'

/** A call forks up to a thousand runs. */
const CALL_TIMEOUT_MS = 300_000
const PAGE = 200
const IN_FLIGHT = 8
const FINISHED: readonly string[] = TERMINAL_STATUSES
/** More matches than this are not counted: every two hundred take a call. */
const COUNT_MAX = 10_000

/** The filters other than the status. */
const FILTER_NAMES: { readonly [Name in Exclude<keyof Filter, 'status'>]-?: true } = {
  app: true,
  workflow: true,
  runType: true,
  since: true,
}
const FILTERS = parametersOf('listRuns', { only: Object.keys(FILTER_NAMES) as (keyof typeof FILTER_NAMES)[] })

/** Adds `bulk-replay` to `perdure runs`. */
export function bulkReplayCommand(runs: Command): void {
  const command = runs
    .command('bulk-replay')
    .description('replay the failed runs that match a filter, newest first; at least one filter is needed')
    .addOption(
      new Option('--status <status>', 'replay finished runs of this status, or of any')
        .choices([...TERMINAL_STATUSES, ANY_STATUS])
        .default('failed'),
    )
    .option('--all', "replay every match, one by one, beyond the engine's limit per call")
    .option('--dry-run', 'count the runs that match, and replay none')
    .option('-y, --yes', 'do not ask for confirmation')
  for (const { option } of FILTERS) command.addOption(option)
  engineCommand<BulkOptions>(
    command,
    ['perdure runs bulk-replay --since 1h --dry-run', 'perdure runs bulk-replay --workflow process-order --all --yes'],
    context => bulkReplay(context, command.getOptionValueSource('status') !== 'default'),
  )
}

async function bulkReplay(context: EngineContext<BulkOptions>, isStatusGiven: boolean): Promise<number> {
  const { client, options, terminal, signal } = context
  const filter = filterOf(context, isStatusGiven)
  if (options.dryRun) return countOnly(context, filter)
  if (terminal.interactive && !options.yes && !(await confirmed(context, filter))) {
    terminal.say('nothing was replayed')
    return EXIT.refused
  }
  const reply = options.all
    ? await replayAll(context, filter)
    : await client.bulkReplayRuns({ body: filter }, { signal, timeoutMs: CALL_TIMEOUT_MS })
  await show(context, reply, () => [summary(reply)])
  if (reply.capped) {
    terminal.say('more runs match: narrow the filter. The same command would replay the same runs again;')
    terminal.say('--all replays every match once.')
  }
  return reply.failed > 0 ? EXIT.refused : EXIT.ok
}

function filterOf(context: EngineContext<BulkOptions>, isStatusGiven: boolean): Filter {
  const { status } = context.options
  const given = FILTERS.map(filter => [filter.name, givenOf(context, filter)] as const).filter(
    ([, value]) => value !== undefined,
  )
  if (given.length === 0 && (!isStatusGiven || status === ANY_STATUS)) {
    throw new UsageError('give a filter: --app, --workflow, --status, --run-type or --since')
  }
  return { ...Object.fromEntries(given), ...(status === ANY_STATUS ? {} : { status }) }
}

async function countOnly(context: EngineContext<BulkOptions>, filter: Filter): Promise<number> {
  const { matched, capped } = await countMatches(context, filter)
  const line = `${countText({ matched, capped })} with ${words(filter)}; nothing was replayed`
  await show(context, { dryRun: true, matched, capped }, () => [line])
  return EXIT.ok
}

async function confirmed(context: EngineContext<BulkOptions>, filter: Filter): Promise<boolean> {
  const count = await countMatches(context, filter)
  return context.terminal.confirm(`Replay ${countText(count)} with ${words(filter)}?`)
}

/** How many finished runs match. `capped`: more than were counted. */
async function countMatches({ client, signal }: EngineContext<unknown>, filter: Filter) {
  let matched = 0
  for await (const run of matches(client, filter, signal)) {
    if (!FINISHED.includes(run.status)) continue
    if (matched === COUNT_MAX) return { matched, capped: true }
    matched += 1
  }
  return { matched, capped: false }
}

const countText = ({ matched, capped }: { matched: number; capped: boolean }) =>
  `${capped ? 'more than ' : ''}${matched} finished ${matched === 1 ? 'run' : 'runs'}`

const words = (filter: Filter) =>
  Object.entries(filter)
    .map(([name, value]) => `${name} ${value}`)
    .join(', ')

const summary = ({ matched, replayed, skipped, failed }: BulkReplayReply) =>
  `${matched} matched, ${replayed} replayed, ${skipped} skipped (not finished), ${failed} failed`

async function replayAll(context: EngineContext<BulkOptions>, filter: Filter): Promise<BulkReplayReply> {
  const { client, terminal, signal } = context
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

/** The runs that match, newest first. */
const matches = (client: Client, filter: Filter, signal: AbortSignal): AsyncIterable<RunSummary> =>
  client.pages.listRuns({ ...filter, limit: PAGE }, { signal })

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
    // 404 and 409 concern only this run, which may have gone or changed in the meantime. Any other refusal would affect every
    // run.
    if (error instanceof ApiError && (error.status === 404 || error.status === 409)) return 'failed'
    throw error
  }
}
