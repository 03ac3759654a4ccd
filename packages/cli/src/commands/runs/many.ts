// `perdure runs cancel|pause|resume|replay|retry` with a filter instead of an id: many runs at once, as a job of the engine.

import type { Bulk, BulkPreview, BulkRequest, RUN_KINDS, RunStatus, WaitingFor } from '@perdure/protocol'
import type { Command } from 'commander'
import { EXIT } from '../../command-line/exit.ts'
import { UsageError } from '../../command-line/flags.ts'
import { wholeId } from '../../command-line/ids.ts'
import {
  appOption,
  attributesOption,
  endedSinceOption,
  endedUntilOption,
  runKindOption,
  runTypeOption,
  sinceOption,
  statusesOption,
  untilOption,
  waitingForOption,
} from '../../command-line/options.ts'
import { type Session, show } from '../../command-line/session.ts'
import { jobText } from '../../output/job.ts'

export interface ManyOptions {
  app?: string
  workflow?: string
  status?: RunStatus[]
  runType?: 'event' | 'cron'
  kind?: (typeof RUN_KINDS)[number]
  since?: string
  until?: string
  endedSince?: string
  endedUntil?: string
  error?: string
  attribute?: string[]
  parent?: string
  event?: string
  replayOf?: string
  runner?: string
  waitingFor?: WaitingFor['kind']
  query?: string
  deep?: true
  preview?: true
  yes?: true
}

type Filter = NonNullable<BulkRequest['filter']>

const POLL_MS = 500
/** The engine gives up a count after 30 s, and says what to narrow: that answer is waited for. */
const COUNT_TIMEOUT_MS = 45_000
const OPTIONS =
  '--app, --workflow, --status, --run-type, --since, --until, --ended-since, --ended-until, --error, --attribute, --parent, --event, --replay-of, --runner, --waiting-for or --query'

/** Adds the options that select many runs. */
export function manyOptions(command: Command): Command {
  return command
    .addOption(appOption())
    .option('--workflow <name>', 'only runs of this workflow; sync-* stands for those that begin so')
    .addOption(statusesOption())
    .addOption(runTypeOption())
    .addOption(runKindOption())
    .addOption(sinceOption())
    .addOption(untilOption())
    .addOption(endedSinceOption())
    .addOption(endedUntilOption())
    .option('--error <fingerprint>', 'only failed runs with this fingerprint of `perdure runs errors`')
    .addOption(attributesOption('only runs with this attribute'))
    .option('--parent <id>', 'only children of this run')
    .option('--event <id>', 'only runs started by this event')
    .option('--replay-of <id>', 'only runs forked from this run')
    .option('--runner <id>', 'only runs that are pinned to this runner')
    .addOption(waitingForOption())
    .option('-q, --query <text>', 'only runs whose id, workflow or app contains this text')
    .option('--deep', 'extend --query to event names, attributes, inputs, results and errors')
    .option('--preview', 'count the runs, and change none')
    .option('-y, --yes', 'do not ask for confirmation')
}

/** Whether the command names one run; throws for both an id and a filter, or neither. */
export function namesOne({ options }: Session<ManyOptions>, id: string): boolean {
  const hasFilter = Object.keys(filterOf(options)).length > 0
  if (id !== '' && (hasFilter || options.preview)) throw new UsageError('give either a run id or a filter, not both')
  if (id === '' && !hasFilter) throw new UsageError(`give a run id, or a filter: ${OPTIONS}`)
  return id !== ''
}

/** Carries out the action on every run that the filter matches, and waits for the end. */
export async function actOnMany(
  session: Session<ManyOptions>,
  wanted: Pick<BulkRequest, 'action' | 'input'>,
): Promise<number> {
  const { client, options, terminal } = session
  const [parent, event, replayOf] = await Promise.all(
    [options.parent, options.event, options.replayOf].map(id => id && wholeId(session, id)),
  )
  const body = { ...wanted, filter: filterOf({ ...options, parent, event, replayOf }) }
  const isAsked = terminal.interactive && !options.yes
  if (options.preview || isAsked) {
    const patient = { signal: session.signal, timeoutMs: COUNT_TIMEOUT_MS }
    const counted = (await client.startBulk({ body: { ...body, dryRun: true } }, patient)) as unknown as BulkPreview
    if (options.preview) return preview(session, counted)
    if (!(await terminal.confirm(`${wanted.action} ${runsText(counted.eligible)}?`))) {
      terminal.say('nothing was changed')
      return EXIT.refused
    }
  } else if (!options.yes) {
    throw new UsageError('without a terminal to ask on, give --yes, or --preview')
  }
  const { bulkId } = await client.startBulk({ body }, session)
  terminal.say(`${bulkId} is under way; it goes on if this command is interrupted`)
  const job = await finished(session, bulkId)
  await show(session, job, () => [jobText(job)])
  return job.failed > 0 ? EXIT.refused : EXIT.ok
}

async function preview(session: Session<ManyOptions>, counted: BulkPreview): Promise<number> {
  await show(session, counted, () => [
    `${counted.matched} matched, ${counted.eligible} to act on, ${counted.skipped} would be skipped; nothing was changed`,
    ...(counted.replayed ? [`${counted.replayed} of those to act on were replayed or retried before`] : []),
    ...counted.sample.map(({ id, workflow, status }) => `${id} ${workflow} ${status}`),
  ])
  return EXIT.ok
}

async function finished({ client, signal }: Session<unknown>, id: string): Promise<Bulk> {
  for (;;) {
    const { results: _, ...job } = await client.getBulk({ id, limit: 1 }, { signal })
    if (job.status !== 'running') return job
    await new Promise(resolve => setTimeout(resolve, POLL_MS))
    signal.throwIfAborted()
  }
}

/** The option of each field of the filter. */
const OPTION_OF: { readonly [Name in keyof Required<Filter>]: keyof ManyOptions } = {
  app: 'app',
  workflow: 'workflow',
  status: 'status',
  runType: 'runType',
  kind: 'kind',
  since: 'since',
  until: 'until',
  endedSince: 'endedSince',
  endedUntil: 'endedUntil',
  error: 'error',
  attribute: 'attribute',
  runner: 'runner',
  waitingFor: 'waitingFor',
  deep: 'deep',
  parentRunId: 'parent',
  eventId: 'event',
  replayOf: 'replayOf',
  q: 'query',
}

function filterOf(options: ManyOptions): Filter {
  const given = Object.entries(OPTION_OF).map(([name, option]) => [name, options[option]] as const)
  return Object.fromEntries(given.filter(([, value]) => value !== undefined))
}

const runsText = (count: number) => `${count} ${count === 1 ? 'run' : 'runs'}`
