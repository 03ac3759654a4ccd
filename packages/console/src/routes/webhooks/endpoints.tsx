// Endpoints: addresses that get a post when runs end. A new secret is shown once.

import type { Calls, Input } from '@perdure/client'
import { useMemo, useState } from 'react'
import { itemsOf, renew, usePages, useRead } from '../../data/queries.ts'
import { useWrite } from '../../data/write.ts'
import { Link, useNavigate } from '../../router/router.tsx'
import { useSession } from '../../session/session.ts'
import { Button } from '../../ui/button.tsx'
import { useRenewal } from '../../ui/live-list/use-renewal.ts'
import { Moment } from '../../ui/moment.tsx'
import { Confirm, Dialog } from '../../ui/overlay/dialog.tsx'
import { Menu } from '../../ui/overlay/menu.tsx'
import { SecretOnce } from '../../ui/overlay/secret-once.tsx'
import { toast } from '../../ui/overlay/toasts.tsx'
import { Empty, Snippet } from '../../ui/states/empty.tsx'
import { Loaded } from '../../ui/states/loaded.tsx'
import { Panel } from '../../ui/states/page.tsx'
import { Status } from '../../ui/status.tsx'
import type { Column } from '../../ui/table/data-table.tsx'
import { ListTable } from '../../ui/table/list-table.tsx'
import { WholeRows } from '../../ui/table/whole-rows.tsx'
import { AboutEndpoint } from './about.tsx'
import { EndpointPosts, PostsOfDay } from './endpoint-posts.tsx'
import { KeyedButton, whyNoKeyedWrite } from './keyed.tsx'
import { hasSecret, type NewSecret, SecretUse } from './secrets.tsx'
import { type TestedDelivery, TestResult } from './test-result.tsx'
import css from './webhooks.module.css'

type Endpoint = Calls['listWebhookEndpoints']['reply'][number]
type Kind = Endpoint['eventKinds'][number]

const ANSWER_STALE_MS = 60_000
/** From a change of a delivery to the next read. */
const RENEWAL_MS = 10_000

const KINDS: readonly Kind[] = ['run.succeeded', 'run.failed', 'run.cancelled', 'step.failed']

interface Row extends Endpoint {
  stats: Calls['getWebhookEndpointStats']['reply'][number] | undefined
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
        // A chart for each endpoint of a long list would cost too much.
        ...(shown === undefined ? [] : (['getWebhookEndpointSeries'] as const)),
      ),
    { afterMs: RENEWAL_MS, topic: 'deliveries' },
  )
  const [isCreating, setCreating] = useState(false)
  const [secret, setSecret] = useState<NewSecret>()
  const [tested, setTested] = useState<TestedDelivery>()
  const one = query.data?.find(({ id }) => id === shown)
  const columns = useMemo(() => columnsWith({ onSecret: setSecret, onTested: setTested }), [])
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
          {endpoints =>
            endpoints.length === 0 && shown === undefined ? (
              <Empty title="No endpoint yet">
                <p>An endpoint is an address that gets a signed post when a run succeeds, fails or is cancelled.</p>
                <Snippet text="perdure webhooks endpoints create https://example.com/hook --event-kinds run.failed" />
              </Empty>
            ) : shown !== undefined && !one ? (
              <Empty title="No endpoint has this id">
                <p>
                  It may have been deleted. <Link target={{ to: 'endpoints' }}>All endpoints</Link>
                </p>
              </Empty>
            ) : (
              <WholeRows count={endpoints.length}>
                <ListTable
                  label="Endpoints"
                  columns={columns}
                  rows={endpoints
                    .filter(({ id }) => shown === undefined || id === shown)
                    .map(endpoint => ({
                      ...endpoint,
                      stats: stats.find(({ endpointId }) => endpointId === endpoint.id),
                    }))}
                  keyOf={({ id }) => id}
                />
              </WholeRows>
            )
          }
        </Loaded>
      </Panel>
      {one && <AboutEndpoint of={one} />}
      {one && <EndpointPosts endpointId={one.id} />}
      {tested && <TestResult delivery={tested} onClose={() => setTested(undefined)} />}
      {isCreating && <CreateDialog onSecret={setSecret} onClose={() => setCreating(false)} />}
      {secret !== undefined && (
        <SecretOnce
          use={<SecretUse of={secret} overlap="Both secrets sign" />}
          title="The endpoint's secret"
          secret={secret.secret}
          onClose={() => setSecret(undefined)}
        />
      )}
    </>
  )
}

/** The functions to call with what an action gives: a new secret, the outcome of a test. */
interface Outcomes {
  onSecret(made: NewSecret): void
  onTested(delivery: TestedDelivery): void
}

function columnsWith(outcomes: Outcomes): readonly Column<Row>[] {
  return [
    { id: 'state', header: 'State', width: '104px', render: endpoint => <State of={endpoint} /> },
    {
      id: 'url',
      header: 'Address',
      render: ({ id, url }) => (
        <Link target={{ to: 'endpoint', params: { id } }} title={url}>
          {url}
        </Link>
      ),
    },
    {
      id: 'kinds',
      header: 'Events',
      width: '124px',
      isSecondary: true,
      render: ({ eventKinds }) => eventKinds.join(', '),
    },
    { id: 'app', header: 'App', width: '96px', isSecondary: true, render: ({ app }) => app ?? 'every app' },
    { id: 'day', header: '24 hours', width: '138px', render: ({ id }) => <PostsOfDay endpointId={id} /> },
    { id: 'success', header: 'Delivered', width: '92px', align: 'end', render: ({ stats }) => successOf(stats) },
    {
      id: 'last',
      header: 'Last answer',
      width: '132px',
      align: 'end',
      isSecondary: true,
      render: ({ id }) => <LastAnswer endpointId={id} />,
    },
    {
      id: 'acts',
      header: 'Actions',
      width: '76px',
      render: endpoint => <Actions of={endpoint} {...outcomes} />,
    },
  ]
}

function State({ of: { enabled, disabledReason } }: { of: Endpoint }) {
  const why = disabledReason === undefined ? '' : `: ${disabledReason}`
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
  if (!stats || stats.delivered === 0) return 'no delivery'
  return `${stats.succeeded} of ${stats.delivered}`
}

function Actions({ of: { id, url, enabled }, onSecret, onTested }: { of: Endpoint } & Outcomes) {
  const [asks, setAsks] = useState<'test' | 'change' | 'rotate' | 'delete'>()
  const navigate = useNavigate()
  const update = useWrite('updateWebhookEndpoint', ['listWebhookEndpoints'])
  const remove = useWrite('deleteWebhookEndpoint', ['listWebhookEndpoints'])
  const test = useWrite('testWebhookEndpoint', ['listWebhookDeliveries'])
  const locked = whyNoKeyedWrite(useSession())
  const onError = (error: Error) => toast(error.message, { isError: true })
  const send = () => {
    toast(`Posting a test to ${url}`)
    test.mutate({ id }, { onSuccess: onTested, onError })
  }
  const close = () => setAsks(undefined)
  const change = { id, body: { enabled: !enabled } }
  const rotation = { id, body: { rotateSecret: true } }
  return (
    <>
      <Menu
        label="⋯"
        name={`Actions on ${url}`}
        items={[
          { label: 'Send a test…', disabledBecause: locked, onSelect: () => setAsks('test') },
          { label: 'Its deliveries', onSelect: () => navigate({ to: 'deliveries', query: { endpoint: id } }) },
          { label: 'Its audit entries', onSelect: () => navigate({ to: 'audit', query: { target: id } }) },
          {
            label: enabled ? 'Disable…' : 'Enable…',
            disabledBecause: locked,
            onSelect: () => setAsks('change'),
          },
          { label: 'Rotate the secret…', disabledBecause: locked, onSelect: () => setAsks('rotate') },
          { label: 'Delete…', disabledBecause: locked, isDanger: true, onSelect: () => setAsks('delete') },
        ]}
      />
      {asks === 'test' && <AskTest id={id} url={url} onConfirm={send} onClose={close} />}
      {asks === 'change' && (
        <AskChange
          isEnabled={enabled}
          change={change}
          onConfirm={() => update.mutate(change, { onError })}
          onClose={close}
        />
      )}
      {asks === 'rotate' && (
        <Confirm
          title="Rotate the secret"
          action="Rotate"
          keep="Keep the secret"
          call={{ id: 'updateWebhookEndpoint', input: rotation }}
          onClose={close}
          onConfirm={() =>
            update.mutate(rotation, {
              onSuccess: reply => hasSecret(reply) && onSecret(reply),
              onError,
            })
          }
        >
          The new secret is shown once. Posts are signed with both secrets for a day, so nothing is refused meanwhile.
        </Confirm>
      )}
      {asks === 'delete' && (
        <Confirm
          title={`Delete ${url}`}
          action="Delete"
          isDanger
          call={{ id: 'deleteWebhookEndpoint', input: { id } }}
          onClose={close}
          onConfirm={() => remove.mutate({ id }, { onError })}
        >
          It gets no more posts. Its deliveries stay in the list.
        </Confirm>
      )}
    </>
  )
}

interface AskProps {
  onConfirm(): void
  onClose(): void
}

function AskTest({ id, url, ...on }: AskProps & { id: string; url: string }) {
  return (
    <Confirm
      title="Send a test"
      action="Send it"
      keep="Send nothing"
      call={{ id: 'testWebhookEndpoint', input: { id } }}
      {...on}
    >
      {url} gets one signed post, which is not repeated. Its answer is shown here.
    </Confirm>
  )
}

function AskChange({
  isEnabled,
  change,
  ...on
}: AskProps & { isEnabled: boolean; change: Input<'updateWebhookEndpoint'> }) {
  return (
    <Confirm
      title={isEnabled ? 'Disable the endpoint' : 'Enable the endpoint'}
      action={isEnabled ? 'Disable' : 'Enable'}
      keep={isEnabled ? 'Keep it enabled' : 'Keep it disabled'}
      call={{ id: 'updateWebhookEndpoint', input: change }}
      {...on}
    >
      {isEnabled ? 'Runs that end from now on make no delivery to it.' : 'Runs that end from now on are posted to it.'}
    </Confirm>
  )
}

function CreateDialog({ onSecret, onClose }: { onSecret(made: NewSecret): void; onClose(): void }) {
  const [url, setUrl] = useState('')
  const [app, setApp] = useState('')
  const [kinds, setKinds] = useState<readonly Kind[]>(['run.failed'])
  const create = useWrite('createWebhookEndpoint', ['listWebhookEndpoints'])
  const input = { body: { url, eventKinds: [...kinds], ...(app === '' ? {} : { app }) } }
  const make = () =>
    create.mutate(input, {
      onSuccess: made => {
        if (hasSecret(made)) onSecret(made)
        onClose()
      },
    })
  return (
    <Dialog
      title="New endpoint"
      onClose={onClose}
      call={{ id: 'createWebhookEndpoint', input }}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <KeyedButton kind="primary" onClick={make}>
            Create
          </KeyedButton>
        </>
      }
    >
      <form
        className={css.form}
        onSubmit={event => {
          event.preventDefault()
          make()
        }}
      >
        <label>
          Address
          <input
            data-autofocus=""
            type="url"
            value={url}
            placeholder="https://example.com/hook"
            onChange={event => setUrl(event.target.value)}
          />
        </label>
        <label>
          App, when only its runs count
          <input value={app} onChange={event => setApp(event.target.value)} />
        </label>
        <fieldset>
          <legend>Events</legend>
          {KINDS.map(kind => (
            <label key={kind}>
              <input
                type="checkbox"
                checked={kinds.includes(kind)}
                onChange={() => setKinds(KINDS.filter(each => kinds.includes(each) !== (each === kind)))}
              />
              {kind}
            </label>
          ))}
        </fieldset>
        {create.error && <p role="alert">{create.error.message}</p>}
      </form>
    </Dialog>
  )
}
