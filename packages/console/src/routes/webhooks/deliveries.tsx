// The deliveries, newest first, by status, app and endpoint.

import { useMemo } from 'react'
import { type Item, itemsOf, usePages } from '../../data/queries.ts'
import { engineNow } from '../../data/time/clock.ts'
import { sinceParam } from '../../data/time/window.ts'
import { Link, useNavigate, useQuery } from '../../router/router.tsx'
import { FilterBar } from '../../ui/filter-bar.tsx'
import { Moment } from '../../ui/moment.tsx'
import { Empty, FilteredEmpty, Snippet } from '../../ui/states/empty.tsx'
import { Loaded } from '../../ui/states/loaded.tsx'
import { Panel } from '../../ui/states/page.tsx'
import { Status } from '../../ui/status.tsx'
import { type Column, DataTable } from '../../ui/table/data-table.tsx'

export type Delivery = Item<'listWebhookDeliveries'>

const STATUSES: readonly Delivery['status'][] = ['pending', 'delivering', 'succeeded', 'failed', 'exhausted', 'dead']

const COLUMNS: readonly Column<Delivery>[] = [
  { id: 'status', header: 'Status', width: '112px', render: ({ status }) => <Status status={status} /> },
  { id: 'kind', header: 'Event', width: '128px', render: ({ eventKind }) => eventKind },
  { id: 'url', header: 'To', render: ({ url }) => <span title={url}>{url}</span> },
  {
    id: 'run',
    header: 'Run',
    width: '20%',
    isSecondary: true,
    render: ({ sourceRunId: id }) => id !== undefined && <Link target={{ to: 'run', params: { id } }}>{id}</Link>,
  },
  { id: 'answer', header: 'Answer', width: '72px', align: 'end', render: ({ lastStatusCode }) => lastStatusCode ?? '' },
  {
    id: 'attempts',
    header: 'Attempts',
    width: '84px',
    align: 'end',
    isSecondary: true,
    render: ({ attemptCount, maxAttempts }) => `${attemptCount} of ${maxAttempts}`,
  },
  {
    id: 'next',
    header: 'Next',
    width: '104px',
    align: 'end',
    isSecondary: true,
    render: ({ nextAttemptAt }) => <Moment at={nextAttemptAt} />,
  },
  {
    id: 'created',
    header: 'Created',
    width: '104px',
    align: 'end',
    render: ({ createdAt }) => <Moment at={createdAt} />,
  },
]

export function Deliveries() {
  const [get, set] = useQuery('deliveries')
  const navigate = useNavigate()
  const [status, app, endpointId, since] = [get('status'), get('app'), get('endpoint'), get('since')]
  // A relative window begins anew only when the URL changes.
  const from = useMemo(() => sinceParam(since, engineNow()), [since])
  const query = usePages('listWebhookDeliveries', {
    limit: 100,
    status: status as Delivery['status'],
    app,
    endpointId,
    since: from,
  })
  const deliveries = itemsOf(query)
  const filters = (['status', 'app', 'endpoint', 'since'] as const).flatMap(name => {
    const value = get(name)
    return value === undefined ? [] : [{ label: `${name}:${value}`, drop: () => set({ [name]: undefined }) }]
  })
  return (
    <>
      <FilterBar
        label="Filter deliveries"
        fields={[
          { name: 'status', label: 'Status', value: status, choices: STATUSES, onChange: status => set({ status }) },
          { name: 'app', label: 'App', value: app, onChange: app => set({ app }) },
          { name: 'endpoint', label: 'Endpoint', value: endpointId, onChange: endpoint => set({ endpoint }) },
          {
            name: 'since',
            label: 'Since',
            value: since,
            choices: ['1h', '24h', '7d', '30d'],
            onChange: since => set({ since }),
          },
        ]}
      />
      <Panel isFlush>
        <Loaded query={query}>
          {() =>
            deliveries.length > 0 ? (
              <DataTable
                label="Deliveries"
                columns={COLUMNS}
                rows={deliveries}
                keyOf={({ id }) => id}
                hasMore={query.hasNextPage}
                isLoadingMore={query.isFetchingNextPage}
                onMore={() => void query.fetchNextPage()}
                onOpen={({ id }) => navigate({ to: 'delivery', params: { id } })}
              />
            ) : filters.length > 0 ? (
              <FilteredEmpty what="deliveries" filters={filters} />
            ) : (
              <Empty title="No delivery yet">
                <p>An endpoint gets a delivery when a run ends; a webhook step makes one by itself.</p>
                <Snippet text="perdure webhooks endpoints create https://example.com/hook --kinds run.failed" />
              </Empty>
            )
          }
        </Loaded>
      </Panel>
    </>
  )
}
