// The bulk jobs of the last 30 days.

import { cutText } from '@perdure/protocol/portable'
import { type Item, renew, usePages } from '../../data/queries.ts'
import { Link, useNavigate } from '../../router/router.tsx'
import { useRenewal } from '../../ui/live-list/use-renewal.ts'
import { Moment } from '../../ui/moment.tsx'
import { Empty } from '../../ui/states/empty.tsx'
import { Page, Panel } from '../../ui/states/page.tsx'
import type { Column } from '../../ui/table/data-table.tsx'
import type { Look } from '../../ui/table/list-table.tsx'
import { PagedTable } from '../../ui/table/paged-table.tsx'
import { PeekPart } from '../../ui/table/peek-panel.tsx'
import { exactTime } from '../../ui/time.ts'
import { Visible } from '../../ui/visible.tsx'
import { grouped } from '../runs/bulk/actions.ts'
import { filterText, JobStatus } from './job-text.tsx'

/** Delay from a change of a run to the next read. */
const RENEWAL_MS = 3000

type Bulk = Item<'listBulks'>

const COLUMNS: readonly Column<Bulk>[] = [
  { id: 'status', header: 'Status', width: '112px', render: ({ status }) => <JobStatus status={status} /> },
  {
    id: 'job',
    header: 'Job',
    width: '150px',
    render: ({ id, action }) => (
      <Link target={{ to: 'bulk', params: { id } }} title={id}>
        {action}
      </Link>
    ),
  },
  { id: 'runs', header: 'Runs', render: ({ filter }) => <Visible text={filterText(filter)} /> },
  ...(['done', 'skipped', 'failed'] as const).map(
    (name): Column<Bulk> => ({
      id: name,
      header: name[0]?.toUpperCase() + name.slice(1),
      width: '88px',
      align: 'end',
      isSecondary: name !== 'done',
      render: job => grouped(job[name]),
    }),
  ),
  {
    id: 'actor',
    header: 'Actor',
    width: '14%',
    isSecondary: true,
    render: ({ actor }) => (actor === undefined ? '' : <Visible text={cutText(actor, 128)} />),
  },
  { id: 'at', header: 'Started', width: '112px', align: 'end', render: ({ createdAt }) => <Moment at={createdAt} /> },
]

export function Jobs() {
  const navigate = useNavigate()
  const query = usePages('listBulks', { limit: 100 })
  // Older pages stay as they are, because a renewal reads all pages again.
  useRenewal(() => renew('listBulks'), { afterMs: RENEWAL_MS, enabled: (query.data?.pages.length ?? 0) <= 1 })
  return (
    <Page title="Bulk jobs">
      <Panel isFlush>
        <PagedTable
          isWhole
          label="Bulk jobs"
          query={query}
          columns={COLUMNS}
          keyOf={({ id }) => id}
          look={lookAt}
          onOpen={({ id }) => navigate({ to: 'bulk', params: { id } })}
          empty={
            <Empty title="No bulk jobs in the last 30 days">
              <p>
                Select runs in the <Link target={{ to: 'runs' }}>list of runs</Link>, or all matching runs, and cancel,
                pause, resume, replay or retry them.
              </p>
            </Empty>
          }
        />
      </Panel>
    </Page>
  )
}

function lookAt({ id, status, action, filter, actor, createdAt, finishedAt, ...counts }: Bulk): Look {
  const { matched, done, skipped, failed } = counts
  return {
    head: (
      <>
        <JobStatus status={status} /> <b>{action}</b>
      </>
    ),
    body: (
      <>
        <PeekPart name="Runs" text={filterText(filter)} />
        <PeekPart
          name="Results"
          text={`${grouped(done)} done, ${grouped(skipped)} skipped, ${grouped(failed)} failed of ${grouped(matched)}`}
        />
        <PeekPart name="Actor" text={actor} />
        <PeekPart name="Started" text={exactTime(Date.parse(createdAt))} />
        <PeekPart name="Ended" text={finishedAt && exactTime(Date.parse(finishedAt))} />
        <PeekPart name="ID" text={id} />
      </>
    ),
  }
}
