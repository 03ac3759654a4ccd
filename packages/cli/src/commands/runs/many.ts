// `perdure runs cancel|pause|resume|replay|retry` with a filter instead of an id: many runs at once, as a job of the engine.

import type { Bulk, BulkPreview, BulkRequest } from '@perdure/protocol'
import type { Command } from 'commander'
import { type EngineContext, show } from '../../command-line/commands.ts'
import { EXIT } from '../../command-line/exit.ts'
import { UsageError } from '../../command-line/flags.ts'
import { givenOf, type ParameterOf, parametersOf, queryOf } from '../../command-line/parameters.ts'
import { jobText } from '../../output/job.ts'
import { DEEP_TEXT } from './read.ts'

export interface ManyOptions {
  preview?: true
  yes?: true
}

/** The parameters of the list of runs that are not filters of a job. */
const LIST_ONLY: {
  readonly [Name in Exclude<ParameterOf<'listRuns'>, keyof NonNullable<BulkRequest['filter']>>]: true
} = { ids: true, bulkId: true, partial: true, position: true, sort: true, dir: true, limit: true }
const FILTERS = parametersOf('listRuns', {
  texts: { workflow: 'only runs of this workflow; sync-* matches every name that begins with sync-', deep: DEEP_TEXT },
}).filter(({ name }) => !(name in LIST_ONLY))

const POLL_MS = 500
/** The engine gives up a count after 30 s, and says what to narrow: the command waits for that answer. */
const COUNT_TIMEOUT_MS = 45_000

/** Adds the options that select many runs. */
export function manyOptions(command: Command): Command {
  for (const { option } of FILTERS) command.addOption(option)
  return command
    .option('--preview', 'count the runs, and change none')
    .option('-y, --yes', 'do not ask for confirmation')
}

/** Whether the command names one run. Throws if both an id and a filter are given, or neither. */
export function namesOne(context: EngineContext<ManyOptions>, id: string): boolean {
  const hasFilter = FILTERS.some(filter => givenOf(context, filter) !== undefined)
  if (id !== '' && (hasFilter || context.options.preview))
    throw new UsageError('give either a run id or a filter, not both')
  if (id === '' && !hasFilter) {
    const names = FILTERS.map(({ option }) => option.long)
    throw new UsageError(`give a run id, or a filter: ${names.join(', ')}`)
  }
  return id !== ''
}

/** Carries out the action on every run that matches the filter, and waits for the end. */
export async function actOnMany(
  context: EngineContext<ManyOptions>,
  wanted: Pick<BulkRequest, 'action' | 'input' | 'cleanup'>,
): Promise<number> {
  const { client, options, terminal } = context
  const body = { ...wanted, filter: await queryOf(context, FILTERS) }
  const isAsked = terminal.interactive && !options.yes
  if (options.preview || isAsked) {
    const patient = { signal: context.signal, timeoutMs: COUNT_TIMEOUT_MS }
    const counted = (await client.startBulk({ body: { ...body, dryRun: true } }, patient)) as unknown as BulkPreview
    if (options.preview) return preview(context, counted)
    if (!(await terminal.confirm(`${wanted.action} ${runsText(counted.eligible)}?`))) {
      terminal.say('nothing was changed')
      return EXIT.refused
    }
  } else if (!options.yes) {
    throw new UsageError('the command cannot ask for confirmation without a terminal: add --yes or --preview')
  }
  const { bulkId } = await client.startBulk({ body }, context)
  terminal.say(`${bulkId} has started; it continues if this command is interrupted`)
  const job = await finished(context, bulkId)
  await show(context, job, () => [jobText(job)])
  return job.failed > 0 ? EXIT.refused : EXIT.ok
}

async function preview(context: EngineContext<ManyOptions>, counted: BulkPreview): Promise<number> {
  await show(context, counted, () => [
    `${counted.matched} matched, ${counted.eligible} to act on, ${counted.skipped} would be skipped; nothing was changed`,
    ...(counted.replayed ? [`${counted.replayed} of those were already replayed or retried`] : []),
    ...counted.sample.map(({ id, workflow, status }) => `${id} ${workflow} ${status}`),
  ])
  return EXIT.ok
}

async function finished({ client, signal }: EngineContext<unknown>, id: string): Promise<Bulk> {
  for (;;) {
    const { results: _, ...job } = await client.getBulk({ id, limit: 1 }, { signal })
    if (job.status !== 'running') return job
    await new Promise(resolve => setTimeout(resolve, POLL_MS))
    signal.throwIfAborted()
  }
}

const runsText = (count: number) => `${count} ${count === 1 ? 'run' : 'runs'}`
