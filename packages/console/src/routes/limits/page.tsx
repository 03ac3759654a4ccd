// Limits: the concurrency limits and throttles that runs hold or wait for, the longest wait first, with the runs that hold them.

import type { Calls } from '@perdure/client'
import { useRead } from '../../data/queries.ts'
import { Link } from '../../router/router.tsx'
import { durationText } from '../../ui/duration.ts'
import { Moment } from '../../ui/moment.tsx'
import { Empty, Snippet } from '../../ui/states/empty.tsx'
import { Loaded } from '../../ui/states/loaded.tsx'
import { Page, Panel } from '../../ui/states/page.tsx'
import { type Column, DataTable } from '../../ui/table/data-table.tsx'
import { Visible } from '../../ui/visible.tsx'
import css from './limits.module.css'

type Limit = Calls['listLimits']['reply'][number]

const COLUMNS: readonly Column<Limit>[] = [
  { id: 'of', header: 'Of', width: '22%', render: limit => <Of limit={limit} /> },
  { id: 'key', header: 'Key', width: '18%', render: ({ key }) => (key === undefined ? '' : <Visible text={key} />) },
  { id: 'use', header: 'In use', width: '150px', render: limit => <InUse limit={limit} /> },
  { id: 'waiting', header: 'Waiting', width: '84px', align: 'end', render: limit => waitingOf(limit) || '' },
  { id: 'oldest', header: 'Oldest', width: '112px', align: 'end', render: ({ oldestAt }) => <Moment at={oldestAt} /> },
  { id: 'holders', header: 'Held by, or next', isSecondary: true, render: limit => <Holders limit={limit} /> },
]

const waitingOf = (limit: Limit) => (limit.kind === 'throttle' ? limit.inLine : limit.waiting)
const keyOf = ({ kind, scope, app, workflow, key }: Limit) => [kind, scope, app, workflow, key].join('\n')

export default function LimitsPage() {
  const query = useRead('listLimits', {})
  return (
    <Page title="Limits">
      <Panel isFlush>
        <Loaded query={query}>
          {limits =>
            limits.length === 0 ? (
              <Empty title="No limit is in use">
                <p>A limit of a workflow appears here while a run holds one of its places, or waits for one.</p>
                <Snippet text={"concurrency: { limit: 5, key: 'event.data.customerId' }"} />
              </Empty>
            ) : (
              <DataTable
                label="Limits"
                columns={COLUMNS}
                rows={[...limits].sort((a, b) => ((a.oldestAt ?? '~') < (b.oldestAt ?? '~') ? -1 : 1))}
                keyOf={keyOf}
              />
            )
          }
        </Loaded>
      </Panel>
    </Page>
  )
}

function Of({ limit: { kind, scope, app, workflow } }: { limit: Limit }) {
  const name =
    app !== undefined && workflow !== undefined ? (
      <Link target={{ to: 'workflow', params: { app, name: workflow } }}>{workflow}</Link>
    ) : (
      (app ?? 'the namespace')
    )
  return (
    <>
      {name} <span className={css.mute}>{scope === 'workflow' ? kind : `${kind} of the ${scope}`}</span>
    </>
  )
}

function InUse({ limit }: { limit: Limit }) {
  if (limit.kind === 'throttle') return `${limit.limit} in ${durationText(limit.periodMs)}`
  const share = Math.min(1, limit.held / limit.limit)
  return (
    <span className={css.use}>
      <span className={css.track} aria-hidden="true">
        <span className={css.bar} style={{ width: `${100 * share}%` }} />
      </span>
      {limit.held} of {limit.limit}
    </span>
  )
}

function Holders({ limit }: { limit: Limit }) {
  if (limit.kind === 'throttle')
    return limit.nextStartAt === undefined ? null : (
      <span>
        next start <Moment at={limit.nextStartAt} />
      </span>
    )
  return (
    <span className={css.holders}>
      {limit.holders.map(({ runId }) => (
        <Link key={runId} target={{ to: 'run', params: { id: runId } }} title={runId}>
          …{runId.slice(-8)}
        </Link>
      ))}
    </span>
  )
}
