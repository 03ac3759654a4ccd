// The deliveries, newest first and live, by status, app and endpoint.

import { useMemo, useState } from 'react'
import { type Item, renew, useRead } from '../../data/queries.ts'
import { useLive } from '../../live/use-live.ts'
import { Link, useNavigate, useQuery } from '../../router/router.tsx'
import { useSession } from '../../session/session.ts'
import { FilterBar, type FilterField } from '../../ui/filter-bar.tsx'
import { News } from '../../ui/live-list/news.tsx'
import { useRenewal } from '../../ui/live-list/use-renewal.ts'
import { Moment } from '../../ui/moment.tsx'
import { useTime } from '../../ui/range/use-time.ts'
import { type EachAction, EachBar } from '../../ui/selection/each.tsx'
import { useSelection } from '../../ui/selection/use-selection.ts'
import { Empty, Snippet } from '../../ui/states/empty.tsx'
import { activeFilters, windowFields } from '../../ui/states/filter-fields.ts'
import { Panel } from '../../ui/states/page.tsx'
import { Status } from '../../ui/status.tsx'
import type { Column } from '../../ui/table/data-table.tsx'
import type { Look } from '../../ui/table/list-table.tsx'
import { PagedTable } from '../../ui/table/paged-table.tsx'
import { PeekPart } from '../../ui/table/peek-panel.tsx'
import { KeyedButton, whyNoKeyedWrite } from './parts/keyed.tsx'
import { RedeliverAll, useRedeliverAll } from './redeliver-all.tsx'
import { useDeliveryList } from './use-delivery-list.ts'

export type Delivery = Item<'listWebhookDeliveries'>

const KINDS: readonly Delivery['eventKind'][] = [
  'run.succeeded',
  'run.failed',
  'run.cancelled',
  'step.failed',
  'custom',
  'test',
]
const STATUSES: readonly Delivery['status'][] = ['pending', 'delivering', 'succeeded', 'failed', 'exhausted', 'dead']

const COLUMNS: readonly Column<Delivery>[] = [
  { id: 'status', header: 'Status', width: '116px', render: ({ status }) => <Status status={status} /> },
  { id: 'kind', header: 'Event', width: '128px', render: ({ eventKind }) => eventKind },
  { id: 'url', header: 'To', render: ({ url }) => <span title={url}>{url}</span> },
  {
    id: 'run',
    header: 'Run',
    width: '92px',
    isSecondary: true,
    render: ({ sourceRunId: id }) =>
      id !== undefined && (
        <Link target={{ to: 'run', params: { id } }} title={id}>
          <code>…{id.slice(-8)}</code>
        </Link>
      ),
  },
  {
    id: 'answer',
    header: 'Response',
    width: '96px',
    align: 'end',
    render: ({ lastStatusCode }) => lastStatusCode ?? '',
  },
  {
    id: 'attempts',
    header: 'Attempts',
    width: '88px',
    align: 'end',
    isSecondary: true,
    render: ({ attemptCount, maxAttempts }) => `${attemptCount} of ${maxAttempts}`,
  },
  {
    id: 'next',
    header: 'Next',
    width: '124px',
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

/** Delay from a change of a run to the next count. */
const COUNTS_RENEWAL_MS = 10_000

/** The actions for each selected delivery. */
const EACH: readonly EachAction<Delivery>[] = [
  {
    label: 'Redeliver',
    sentence: 'Each is sent immediately, with a new signature and a full retry schedule.',
    id: 'redeliverWebhook',
    inputOf: ({ id }) => ({ id }),
    fits: ({ status }) => status !== 'delivering',
  },
]

type Query = ReturnType<typeof useQuery<'deliveries'>>
type Get = Query[0]

/** Returns the filters of the URL in the engine's form. */
function useFilter(get: Get) {
  const [status, app, endpointId, since] = [get('status'), get('app'), get('endpoint'), get('since')]
  const from = useTime(since)
  const kind = get('kind')
  const until = useTime(get('until'))
  return useMemo(
    () => ({
      status: status as Delivery['status'],
      eventKind: kind as Delivery['eventKind'],
      app,
      endpointId,
      since: from,
      until,
    }),
    [status, kind, app, endpointId, from, until],
  )
}

/**
 * Counts the deliveries of each status that match the other filters. Deliveries follow ends of runs, so these renew the counts.
 */
function useCounts({ status: _, ...filter }: ReturnType<typeof useFilter>) {
  const { data } = useRead('getWebhookDeliveryFacets', filter)
  useRenewal(() => renew('getWebhookDeliveryFacets'), { afterMs: COUNTS_RENEWAL_MS })
  return data?.status
}

function fieldsOf(get: Get, set: Query[1], counts: FilterField['counts']): FilterField[] {
  return [
    {
      name: 'status',
      label: 'Status',
      value: get('status'),
      choices: STATUSES,
      counts,
      onChange: status => set({ status }),
    },
    { name: 'kind', label: 'Event', value: get('kind'), choices: KINDS, onChange: kind => set({ kind }) },
    { name: 'app', label: 'App', value: get('app'), onChange: app => set({ app }) },
    { name: 'endpoint', label: 'Endpoint', value: get('endpoint'), onChange: endpoint => set({ endpoint }) },
    ...windowFields({ since: get('since'), until: get('until') }, set),
  ]
}

export function Deliveries() {
  const [get, set] = useQuery('deliveries')
  const navigate = useNavigate()
  const filter = useFilter(get)
  const { isPaused } = useLive()
  const input = useMemo(() => ({ ...filter, limit: 100 }), [filter])
  const { selected, setSelected, clear } = useSelection(input)
  const { query, rows, news, readAgain } = useDeliveryList(input, { isFrozen: isPaused || selected.size > 0 })
  const counts = useCounts(filter)
  const redeliver = useRedeliverAll(filter)
  const locked = whyNoKeyedWrite(useSession())
  const [isRedelivering, setRedelivering] = useState(false)
  const filters = activeFilters(['status', 'kind', 'app', 'endpoint', 'since', 'until'], get, set)
  return (
    <>
      <FilterBar label="Filter deliveries" fields={fieldsOf(get, set, counts)} />
      <Panel
        isFlush
        actions={
          <KeyedButton
            disabledBecause={filters.length === 0 ? 'Choose a filter first' : undefined}
            onClick={() => setRedelivering(true)}
          >
            Redeliver all matching…
          </KeyedButton>
        }
      >
        <News count={news} onRead={readAgain} />
        <PagedTable
          label="Deliveries"
          query={query}
          columns={COLUMNS}
          keyOf={({ id }) => id}
          look={lookAt}
          filters={filters}
          what="deliveries"
          empty={
            <Empty title="No deliveries yet">
              <p>An endpoint receives a delivery when a run ends or a step fails; a webhook step creates its own.</p>
              <Snippet text="perdure webhooks endpoints create https://example.com/hook --event-kinds run.failed" />
            </Empty>
          }
          onOpen={({ id }) => navigate({ to: 'delivery', params: { id } })}
          selection={{ keys: selected, onChange: setSelected }}
        />
      </Panel>
      {selected.size > 0 && (
        <EachBar
          rows={rows.filter(({ id }) => selected.has(id))}
          nouns={['delivery', 'deliveries']}
          actions={EACH}
          renews={['listWebhookDeliveries']}
          disabledBecause={locked}
          onClear={clear}
        />
      )}
      {isRedelivering && <RedeliverAll filter={filter} onConfirm={redeliver} onClose={() => setRedelivering(false)} />}
    </>
  )
}

function lookAt({ id, status, eventKind, url, lastStatusCode, attemptCount, maxAttempts }: Delivery): Look {
  return {
    head: (
      <>
        <Status status={status} /> <b>{eventKind}</b>
      </>
    ),
    body: (
      <>
        <PeekPart name={`To, attempt ${attemptCount} of ${maxAttempts}`} text={url} />
        <PeekPart name="Last response" text={lastStatusCode === undefined ? undefined : String(lastStatusCode)} />
        <PeekPart name="ID" text={id} />
      </>
    ),
  }
}
