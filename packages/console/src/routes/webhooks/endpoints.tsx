// Endpoints: URLs that get a post when runs end or steps fail. A new secret is shown once.

import type { Calls } from '@perdure/client'
import { useMemo, useState } from 'react'
import { itemsOf, renew, usePages, useRead } from '../../data/queries.ts'
import { Link } from '../../router/router.tsx'
import { useRenewal } from '../../ui/live-list/use-renewal.ts'
import { Moment } from '../../ui/moment.tsx'
import { SecretOnce } from '../../ui/overlay/secret-once.tsx'
import { Empty, Snippet } from '../../ui/states/empty.tsx'
import { Loaded } from '../../ui/states/loaded.tsx'
import { Panel } from '../../ui/states/page.tsx'
import { Status } from '../../ui/status.tsx'
import type { Column } from '../../ui/table/data-table.tsx'
import type { Look } from '../../ui/table/list-table.tsx'
import { PeekPart } from '../../ui/table/peek-panel.tsx'
import { exactTime } from '../../ui/time.ts'
import { EndpointActions, type Outcomes } from './endpoint-actions.tsx'
import { NewEndpoint } from './endpoint-form.tsx'
import { EndpointPosts, LatencyOfDay, PostsOfDay, usePostsOfDay } from './endpoint-posts.tsx'
import { AboutEndpoint } from './parts/about.tsx'
import { KeyedButton } from './parts/keyed.tsx'
import { type NewSecret, SecretUse } from './parts/secrets.tsx'
import { SettingList } from './parts/setting-list.tsx'
import { type TestedDelivery, TestResult } from './test-result.tsx'

type Endpoint = Calls['listWebhookEndpoints']['reply'][number]

const ANSWER_STALE_MS = 60_000
/** Delay from a change of a delivery to the next read. */
const RENEWAL_MS = 10_000

type Stats = Calls['getWebhookEndpointStats']['reply'][number]

interface Row extends Endpoint {
  stats: Stats | undefined
}

export function Endpoints({ shown }: { shown: string | undefined }) {
  const query = useRead('listWebhookEndpoints', {})
  const stats = useRead('getWebhookEndpointStats', {}).data ?? []
  useRenewal(
    () =>
      renew(
        'listWebhookEndpoints',
        'getWebhookEndpointStats',
        'listWebhookDeliveries',
        // In a long list, a chart for each endpoint would cost too much.
        ...(shown === undefined ? [] : (['getWebhookEndpointSeries'] as const)),
      ),
    { afterMs: RENEWAL_MS, topic: 'deliveries' },
  )
  const [isCreating, setCreating] = useState(false)
  const [secret, setSecret] = useState<NewSecret>()
  const [tested, setTested] = useState<TestedDelivery>()
  const one = query.data?.find(({ id }) => id === shown)
  const outcomes = useMemo(() => ({ onSecret: setSecret, onTested: setTested }), [])
  return (
    <>
      <Panel
        title="Endpoints"
        isFlush
        actions={
          <KeyedButton kind="primary" onClick={() => setCreating(true)}>
            New endpoint…
          </KeyedButton>
        }
      >
        <Loaded query={query}>
          {endpoints => <List endpoints={endpoints} stats={stats} shown={shown} outcomes={outcomes} />}
        </Loaded>
      </Panel>
      {one && <AboutEndpoint of={one} />}
      {one && <EndpointPosts endpointId={one.id} />}
      {tested && <TestResult delivery={tested} onClose={() => setTested(undefined)} />}
      {isCreating && <NewEndpoint onSecret={setSecret} onClose={() => setCreating(false)} />}
      {secret !== undefined && (
        <SecretOnce
          use={<SecretUse of={secret} use="The recipient needs it to verify signatures." overlap="Both secrets sign" />}
          title="The endpoint's secret"
          secret={secret.secret}
          onClose={() => setSecret(undefined)}
        />
      )}
    </>
  )
}

interface ListProps {
  endpoints: readonly Endpoint[]
  stats: readonly Stats[]
  shown: string | undefined
  outcomes: Outcomes
}

/** All endpoints, or only the selected one. */
function List({ endpoints, stats, shown, outcomes }: ListProps) {
  const columns = useMemo(() => columnsWith(outcomes), [outcomes])
  const rows = endpoints.map(endpoint => ({
    ...endpoint,
    stats: stats.find(({ endpointId }) => endpointId === endpoint.id),
  }))
  return (
    <SettingList noun="endpoint" columns={columns} rows={rows} look={lookAt} shown={shown}>
      <Empty title="No endpoints yet">
        <p>An endpoint is a URL that receives a signed POST request when a run ends or a step fails.</p>
        <Snippet text="perdure webhooks endpoints create https://example.com/hook --event-kinds run.failed" />
      </Empty>
    </SettingList>
  )
}

function columnsWith(outcomes: Outcomes): readonly Column<Row>[] {
  return [
    { id: 'state', header: 'State', width: '104px', render: endpoint => <State of={endpoint} /> },
    {
      id: 'url',
      header: 'URL',
      render: ({ id, url }) => (
        <Link target={{ to: 'endpoint', params: { id } }} title={url}>
          {url}
        </Link>
      ),
    },
    {
      id: 'kinds',
      header: 'Events',
      width: '132px',
      isSecondary: true,
      render: ({ eventKinds, app }) => `${eventKinds.join(', ')}${app === undefined ? '' : ` in ${app}`}`,
    },
    { id: 'day', header: '24 hours', width: '138px', align: 'end', render: ({ id }) => <PostsOfDay endpointId={id} /> },
    {
      id: 'latency',
      header: 'p50 / p95',
      width: '116px',
      align: 'end',
      render: ({ id }) => <LatencyOfDay endpointId={id} />,
    },
    { id: 'success', header: 'Delivered 30 d', width: '136px', align: 'end', render: ({ stats }) => successOf(stats) },
    {
      id: 'last',
      header: 'Last response',
      width: '132px',
      align: 'end',
      isSecondary: true,
      render: ({ id }) => <LastAnswer endpointId={id} />,
    },
    {
      id: 'acts',
      header: 'Actions',
      width: '76px',
      render: endpoint => <EndpointActions of={endpoint} {...outcomes} />,
    },
  ]
}

function State({ of: { id, enabled, disabledReason } }: { of: Row }) {
  const why = disabledReason === undefined ? '' : `: ${disabledReason}`
  const posts = usePostsOfDay(id)
  if (enabled && posts && posts.failed > 0 && posts.succeeded === 0) {
    const all = `all ${posts.failed} deliveries in 24 hours failed`
    return (
      <span title={`Enabled; ${all}`}>
        <Status status="failed" word="failing" />
      </span>
    )
  }
  return (
    <span title={disabledReason}>
      <Status status={enabled ? 'succeeded' : 'paused'} word={enabled ? 'enabled' : `disabled${why}`} />
    </span>
  )
}

/** The answer to the newest post. Only rows on the screen are rendered, so only their deliveries are read. */
function LastAnswer({ endpointId }: { endpointId: string }) {
  const query = usePages('listWebhookDeliveries', { endpointId, limit: 1 }, { staleMs: ANSWER_STALE_MS, keep: false })
  const [last] = itemsOf(query)
  if (!last) return null
  return (
    <Link target={{ to: 'delivery', params: { id: last.id } }}>
      {last.lastStatusCode ?? last.status}, <Moment at={last.updatedAt} />
    </Link>
  )
}

function successOf(stats: Row['stats']): string {
  if (!stats || stats.delivered === 0) return 'no deliveries'
  return `${stats.succeeded} of ${stats.delivered}`
}

function lookAt(row: Row): Look {
  const { id, url, name, eventKinds, app, disabledReason, stats } = row
  const last = stats?.lastDelivery
  return {
    head: (
      <>
        <State of={row} /> <b>{hostOf(url)}</b>
      </>
    ),
    body: (
      <>
        <PeekPart name="URL" text={url} />
        <PeekPart name="Label" text={name} />
        <PeekPart name="Disabled because" text={disabledReason} />
        <PeekPart name="Events" text={`${eventKinds.join(', ')} in ${app ?? 'every app'}`} />
        <PeekPart name="Delivered in 30 days" text={successOf(stats)} />
        <PeekPart name="Last delivery" text={last && exactTime(Date.parse(last))} />
        <PeekPart name="ID" text={id} />
      </>
    ),
  }
}

const hostOf = (url: string) => (URL.canParse(url) ? new URL(url).host : url)
