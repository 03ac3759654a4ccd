// `perdure runs list|get`: lists runs, shows one run.

import type { Client } from '@perdure/client'
import {
  type Attributes,
  type ListedRun,
  type RUN_KINDS,
  RUN_SORT_KEYS,
  type Run,
  type RunSummary,
  SORT_DIRECTIONS,
  type WaitingFor,
} from '@perdure/protocol'
import { type Command, Option } from 'commander'
import { pageUrl } from '../../command-line/console-url.ts'
import { wholeId } from '../../command-line/ids.ts'
import {
  appOption,
  attributesOption,
  endedSinceOption,
  endedUntilOption,
  limitOption,
  namesOf,
  runKindOption,
  runTypeOption,
  sinceOption,
  statusesOption,
  untilOption,
  waitingForOption,
} from '../../command-line/options.ts'
import { type EngineOptions, engineCommand, list, type Session, show } from '../../command-line/session.ts'
import { details } from '../../output/details.ts'
import { detailLines, errorHead, errorNote, stackLines } from '../../output/errors.ts'
import { type Column, statusCell, workflowCell } from '../../output/table.ts'
import { duration, relative, withAge } from '../../output/time.ts'

interface ListOptions {
  app?: string
  workflow?: string
  status?: RunSummary['status'][]
  runType?: RunSummary['triggerKind']
  kind?: (typeof RUN_KINDS)[number]
  event?: string
  replayOf?: string
  parent?: string
  waitingFor?: WaitingFor['kind']
  error?: string
  runner?: string
  bulk?: string
  ids?: string[]
  attribute?: string[]
  query?: string
  deep?: true
  since?: string
  until?: string
  endedSince?: string
  endedUntil?: string
  partial?: true
  position?: true
  sort?: (typeof RUN_SORT_KEYS)[number]
  dir?: (typeof SORT_DIRECTIONS)[number]
  limit: number
}

type ListQuery = NonNullable<Parameters<Client['listRuns']>[0]>
/** The parameters of the list that are options here. A parameter of the operation that is missing does not compile. */
type ListParams = {
  [Name in Exclude<keyof Required<ListQuery>, 'cursor'>]: ListQuery[Name]
}

/** Adds `list` and `get` to `perdure runs`. */
export function readCommands(runs: Command): void {
  const listing = runs
    .command('list')
    .description('list runs, newest first')
    .addOption(appOption())
    .option('--workflow <name>', 'only runs of this workflow')
    .addOption(statusesOption())
    .addOption(runTypeOption())
    .addOption(runKindOption())
    .option('--event <id>', 'only runs started by this event')
    .option('--replay-of <id>', 'only runs forked from this run')
    .option('--parent <id>', 'only children of this run')
    .addOption(waitingForOption())
    .option('--error <fingerprint>', 'only failed runs with this error')
    .option('--runner <id>', 'only runs that are pinned to this runner')
    .option('--bulk <id>', 'only runs that this bulk job made')
    .option('--ids <list>', 'only these runs', namesOf)
    .addOption(attributesOption('only runs with this attribute'))
    .option('-q, --query <text>', 'only runs whose id, workflow or app contains this text')
    .option('--deep', 'extend --query to event names, attributes, inputs, results and errors')
    .addOption(sinceOption())
    .addOption(untilOption())
    .addOption(endedSinceOption())
    .addOption(endedUntilOption())
    .option('--partial', 'let a long search take many requests, instead of giving up after 5 s')
    .option('--position', 'show how many runs are before each that a limit or a throttle holds')
    .addOption(new Option('--sort <by>', 'sort key').choices(RUN_SORT_KEYS))
    .addOption(new Option('--dir <direction>', 'sort direction').choices(SORT_DIRECTIONS))
    .addOption(limitOption('runs', 30))
  engineCommand<ListOptions>(
    listing,
    [
      'perdure runs list --workflow order --status queued,waiting',
      'perdure runs list --status failed --since 2h',
      'perdure runs list --waiting-for concurrency --position',
      'perdure runs list --attribute customer:c-17 --attribute plan:pro',
      'perdure runs list --query ada@example.org --deep',
      'perdure runs list --limit 1000 --json | jq -r .id',
    ],
    listRuns,
  )

  const getting = runs.command('get <id>').description('show one run, with its input and result')
  engineCommand<EngineOptions>(
    getting,
    ['perdure runs get run_01K...', 'perdure runs get run_01K... --json | jq .result'],
    async (session, given = '') => {
      const id = await wholeId(session, given)
      const run = await session.client.getRun({ id }, session)
      return show(session, run, () => runDetails(run, session))
    },
  )
}

async function listRuns(session: Session<ListOptions>): Promise<undefined> {
  const { client, options } = session
  const { query: q, app, workflow, status, runType, kind, waitingFor, error, runner, attribute } = options
  const [eventId, replayOf, parentRunId] = await Promise.all(
    [options.event, options.replayOf, options.parent].map(id => id && wholeId(session, id)),
  )
  const ids = options.ids && (await Promise.all(options.ids.map(id => wholeId(session, id))))
  const { bulk: bulkId, deep, since, until, endedSince, endedUntil, partial, position, sort, dir, limit } = options
  const filters = {
    app,
    workflow,
    status,
    runType,
    kind,
    eventId,
    replayOf,
    parentRunId,
    waitingFor,
    error,
    runner,
    bulkId,
    ids,
    attribute,
  }
  const query: ListParams = {
    ...filters,
    q,
    deep,
    since,
    until,
    endedSince,
    endedUntil,
    partial,
    position,
    sort,
    dir,
    limit,
  }
  return list(session, client.pages.listRuns(query, session), RUN_COLUMNS, { limit })
}

export const took = ({ durationMs }: { durationMs?: number }) =>
  durationMs === undefined ? undefined : duration(durationMs)

const RUN_COLUMNS: Column<ListedRun>[] = [
  { title: 'ID', cell: run => run.id, whole: true },
  { title: 'STATUS', cell: statusCell, whole: true },
  { title: 'WORKFLOW', cell: workflowCell },
  { title: 'APP', cell: run => run.app, leave: 1 },
  { title: 'CREATED', cell: run => relative(run.createdAt), leave: 3 },
  { title: 'TOOK', cell: took, leave: 2 },
  { title: 'NOTE', cell: runNote },
]

function runNote({ error, waitingFor, currentStepName, position }: ListedRun): string | undefined {
  const before = position === undefined ? '' : `, ${position} before it`
  const waits = waiting(waitingFor)
  return error ? errorNote(error) : (waitingFor?.error ?? (waits && waits + before) ?? currentStepName)
}

function runDetails(run: Run, { options, terminal }: Session<EngineOptions>): string[] {
  const trigger = run.triggerKind === 'cron' ? run.cron : [run.eventName, run.eventId].filter(Boolean).join(' ')
  return details(
    {
      lines: [
        ['run', run.id],
        ['status', run.status],
        ['workflow', workflowCell(run)],
        ['app', run.app],
        ['runner', run.runner],
        ['trigger', trigger ? `${run.triggerKind} ${trigger}` : run.triggerKind],
        ['events', run.eventIds && idsText(run.eventIds)],
        ['replay of', run.replayOf],
        ['parent', run.parentRunId],
        ['attempt', String(run.attempt)],
        ['created', withAge(run.createdAt)],
        ['started', withAge(run.startedAt)],
        ['finished', withAge(run.finishedAt)],
        ['took', took(run)],
        ['attributes', run.attributes && attributesText(run.attributes)],
        ['step', run.currentStepName],
        ['waits for', waiting(run.waitingFor)],
        ['last try', run.waitingFor?.error],
        ['error', run.error && errorHead(run.error)],
        ['console', pageUrl(options.url, run.id)],
      ],
      text: [
        ['detail', run.error && detailLines(run.error)],
        ['stack', run.error && stackLines(run.error)],
      ],
      json: [
        ['progress', run.progress?.value],
        ['input', run.input],
        ['result', run.result],
      ],
    },
    terminal.paint,
  )
}

const IDS_SHOWN = 10

/** The events of a burst or batch; the first ones if there are many. */
function idsText(ids: readonly string[]): string {
  const more = ids.length - IDS_SHOWN
  return `${ids.slice(0, IDS_SHOWN).join(' ')}${more > 0 ? ` and ${more} more` : ''}`
}

function attributesText(attributes: Attributes): string {
  return Object.entries(attributes)
    .map(([key, value]) => `${key}:${value}`)
    .join(', ')
}

function waiting(what: WaitingFor | undefined): string | undefined {
  if (!what) return undefined
  const of = what.eventName ?? what.childRunId ?? what.key ?? what.stepName
  const tries = what.maxAttempts === undefined ? undefined : `(attempt ${what.attempt} of ${what.maxAttempts})`
  return [what.kind, of, tries, what.until && `until ${what.until}`].filter(Boolean).join(' ')
}
