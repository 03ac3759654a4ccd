// The results of a bulk job, run by run, in pages; only one outcome if the URL names it.

import type { Input } from '@perdure/client'
import { cutText } from '@perdure/protocol/portable'
import { type InfiniteData, useInfiniteQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { keyOf } from '../../data/queries.ts'
import { Link, useQuery } from '../../router/router.tsx'
import { readClient } from '../../session/session.ts'
import { Button } from '../../ui/button.tsx'
import { Empty, FilteredEmpty } from '../../ui/states/empty.tsx'
import { Panel } from '../../ui/states/page.tsx'
import type { Column } from '../../ui/table/data-table.tsx'
import { PagedTable } from '../../ui/table/paged-table.tsx'
import { Visible } from '../../ui/visible.tsx'
import { shortId } from '../../ui/visible-text.ts'
import { grouped } from '../runs/bulk/actions.ts'
import css from './bulk.module.css'
import { type BulkDetail, Outcome, reachedOf } from './job-text.tsx'

type Result = BulkDetail['results'][number]

const PAGE = 100
const OUTCOMES = ['done', 'skipped', 'failed'] as const

const COLUMNS: readonly Column<Result>[] = [
  { id: 'outcome', header: 'Outcome', width: '120px', render: ({ outcome }) => <Outcome outcome={outcome} /> },
  { id: 'run', header: 'Run', width: '132px', render: ({ runId }) => <RunLink id={runId} /> },
  {
    id: 'new',
    header: 'New run',
    width: '132px',
    isSecondary: true,
    render: ({ newRunId }) => newRunId !== undefined && <RunLink id={newRunId} />,
  },
  { id: 'why', header: 'Reason', render: ({ error }) => error !== undefined && <Visible text={cutText(error, 500)} /> },
]

function RunLink({ id }: { id: string }) {
  return (
    <Link target={{ to: 'run', params: { id } }} title={id} className={css.id}>
      {shortId(id)}
    </Link>
  )
}

export function Results({ job }: { job: BulkDetail }) {
  const [get, set] = useQuery('bulk')
  const outcome = OUTCOMES.find(each => each === get('outcome'))
  const input: Input<'getBulk'> = { id: job.id, limit: PAGE, outcome }
  const query = useInfiniteQuery<BulkDetail, Error, InfiniteData<BulkDetail>, readonly unknown[], string | undefined>({
    queryKey: [...keyOf('getBulk', input), 'results'],
    queryFn: ({ signal, pageParam }) => readClient().getBulk({ ...input, cursor: pageParam }, { signal }),
    initialPageParam: undefined,
    getNextPageParam: page => page.nextCursor,
  })
  const { refetch } = query
  const isRunning = job.status === 'running'
  // Results are sorted by run id, not by time: the results of a running job are read again when it has ended.
  useEffect(() => {
    if (!isRunning) void refetch()
  }, [isRunning, refetch])
  return (
    <Panel
      title="Results"
      isFlush
      actions={
        <fieldset className={css.outcomes}>
          <legend className="visually-hidden">Outcome</legend>
          {[undefined, ...OUTCOMES].map(each => (
            <Button
              key={each ?? 'all'}
              kind="bare"
              aria-pressed={outcome === each}
              onClick={() => set({ outcome: each })}
            >
              {each ?? 'all'} {grouped(each ? job[each] : reachedOf(job))}
            </Button>
          ))}
          {isRunning && <Button onClick={() => void refetch()}>Refresh</Button>}
        </fieldset>
      }
    >
      <PagedTable
        label="Results"
        query={query}
        rowsOf={page => page.results}
        columns={COLUMNS}
        keyOf={({ runId }) => runId}
        empty={
          outcome === undefined ? (
            <Empty title="No results yet" />
          ) : (
            <FilteredEmpty
              what="results"
              filters={[{ label: `outcome:${outcome}`, drop: () => set({ outcome: undefined }) }]}
            />
          )
        }
      />
    </Panel>
  )
}
