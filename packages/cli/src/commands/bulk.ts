// `perdure bulk`: lists the jobs that act on many runs, shows one with its results, and stops one. Commands such as `perdure runs
// cancel` start them.

import type { BulkDetail } from '@perdure/protocol'
import type { Command } from 'commander'
import { type EngineContext, group, show } from '../command-line/commands.ts'
import { listCommand, operationCommand, showCommand } from '../command-line/operation.ts'
import { jobText } from '../output/job.ts'
import { type Column, table } from '../output/table.ts'

type Result = BulkDetail['results'][number]

/** Adds `perdure bulk` to the program. */
export function bulkCommands(program: Command): void {
  const bulk = group(program, 'bulk', {
    description: 'list, show and stop jobs that act on many runs',
    examples: ['perdure bulk list', 'perdure bulk stop blk_01K...'],
  })
  listCommand(bulk, 'list', {
    operation: 'listBulks',
    description: 'list the jobs of the last 30 days, newest first',
    examples: ['perdure bulk list', 'perdure bulk list --json | jq -r .id'],
    rows: 'jobs',
    limit: 30,
    columns: [
      'id',
      'action',
      'status',
      'matched',
      'done',
      { field: 'skipped', leave: 2 },
      'failed',
      { field: 'actor', leave: 1 },
      { field: 'createdAt', title: 'STARTED' },
    ],
  })
  operationCommand(
    bulk,
    'get',
    {
      operation: 'getBulk',
      description: 'show a job: its progress, and the result of each run',
      examples: ['perdure bulk get blk_01K...', 'perdure bulk get blk_01K... --outcome failed --json | jq .results'],
      rows: 'results',
    },
    async (context: EngineContext<GetOptions>, first) => {
      const { results, ...job } = await withResults(context, first)
      return show(context, { ...job, results }, () => [
        jobText(job),
        ...(results.length === 0 ? [] : table(results, RESULTS, context.terminal)),
      ])
    },
  )
  showCommand(bulk, 'stop', {
    operation: 'stopBulk',
    description: 'stop a job: the runs that it has not reached are not changed',
    examples: ['perdure bulk stop blk_01K...'],
    lines: job => [jobText(job)],
  })
}

interface GetOptions {
  outcome?: Result['outcome']
  limit: number
}

/** Returns the job, with further pages until there are as many results as wanted. */
async function withResults(
  { client, options, signal }: EngineContext<GetOptions>,
  first: BulkDetail,
): Promise<BulkDetail> {
  const { outcome, limit } = options
  const { id } = first
  let page = first
  const results = [...first.results]
  while (page.nextCursor !== undefined && results.length < limit) {
    page = await client.getBulk({ id, outcome, limit: limit - results.length, cursor: page.nextCursor }, { signal })
    results.push(...page.results)
  }
  return { ...page, results }
}

const RESULTS: Column<Result>[] = [
  { field: 'runId', title: 'RUN' },
  'outcome',
  { field: 'newRunId', title: 'NEW RUN' },
  'error',
]
