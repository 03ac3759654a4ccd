// `perdure bulk`: lists the jobs that act on many runs, shows one with its results, and stops one. `perdure runs cancel` and
// its like start them.

import { BULK_OUTCOMES, type Bulk, type BulkDetail } from '@perdure/protocol'
import { type Command, Option } from 'commander'
import { limitOption } from '../command-line/options.ts'
import { engineCommand, group, list, type Session, show } from '../command-line/session.ts'
import { jobText } from '../output/job.ts'
import { type Column, table } from '../output/table.ts'
import { relative } from '../output/time.ts'

type Result = BulkDetail['results'][number]

interface GetOptions {
  outcome?: Result['outcome']
  limit: number
}

/** Results in one call. */
const PAGE = 200

/** Adds `perdure bulk` to the program. */
export function bulkCommands(program: Command): void {
  const bulk = group(program, 'bulk', {
    description: 'list, show and stop jobs that act on many runs',
    examples: ['perdure bulk list', 'perdure bulk stop blk_01K...'],
  })
  engineCommand<{ limit: number }>(
    bulk
      .command('list')
      .description('list the jobs of the last 30 days, newest first')
      .addOption(limitOption('jobs', 30)),
    ['perdure bulk list', 'perdure bulk list --json | jq -r .id'],
    session => {
      const { limit } = session.options
      return list(session, session.client.pages.listBulks({ limit: Math.min(limit, PAGE) }, session), JOBS, { limit })
    },
  )
  engineCommand<GetOptions>(
    bulk
      .command('get <id>')
      .description('show a job: how far it is, and what became of each run')
      .addOption(new Option('--outcome <outcome>', 'only results with this outcome').choices(BULK_OUTCOMES))
      .addOption(limitOption('results', 100)),
    ['perdure bulk get blk_01K...', 'perdure bulk get blk_01K... --outcome failed --json | jq .results'],
    async (session, id = '') => {
      const { results, ...job } = await jobWithResults(session, id)
      return show(session, { ...job, results }, () => [
        jobText(job),
        ...(results.length === 0 ? [] : table(results, RESULTS, session.terminal)),
      ])
    },
  )
  engineCommand(
    bulk.command('stop <id>').description('stop a job: the runs that it has not reached stay as they are'),
    ['perdure bulk stop blk_01K...'],
    async (session, id = '') => {
      const job = await session.client.stopBulk({ id }, session)
      return show(session, job, () => [jobText(job)])
    },
  )
}

/** Reads pages until there are as many results as wanted. */
async function jobWithResults({ client, options, signal }: Session<GetOptions>, id: string): Promise<BulkDetail> {
  const { outcome, limit } = options
  const results: Result[] = []
  for (let cursor: string | undefined; ; ) {
    const page = await client.getBulk(
      { id, outcome, limit: Math.min(limit - results.length, PAGE), cursor },
      { signal },
    )
    results.push(...page.results)
    cursor = page.nextCursor
    if (cursor === undefined || results.length >= limit) return { ...page, results }
  }
}

const JOBS: Column<Bulk>[] = [
  { title: 'ID', cell: job => job.id, whole: true },
  { title: 'ACTION', cell: job => job.action },
  { title: 'STATUS', cell: job => job.status },
  { title: 'MATCHED', cell: job => String(job.matched) },
  { title: 'DONE', cell: job => String(job.done) },
  { title: 'SKIPPED', cell: job => String(job.skipped), leave: 2 },
  { title: 'FAILED', cell: job => String(job.failed) },
  { title: 'ACTOR', cell: job => job.actor, leave: 1 },
  { title: 'STARTED', cell: job => relative(job.createdAt) },
]

const RESULTS: Column<Result>[] = [
  { title: 'RUN', cell: result => result.runId, whole: true },
  { title: 'OUTCOME', cell: result => result.outcome },
  { title: 'NEW RUN', cell: result => result.newRunId, whole: true },
  { title: 'ERROR', cell: result => result.error },
]
