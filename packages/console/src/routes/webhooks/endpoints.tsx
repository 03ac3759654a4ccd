// Endpoints: addresses that get a post when runs end. A new secret is shown once.

import type { Calls } from '@perdure/client'
import { useMemo, useState } from 'react'
import { useRead, useWrite } from '../../data/queries.ts'
import { Link, useNavigate } from '../../router/router.tsx'
import { useSession, whyNoWrite } from '../../session/session.ts'
import { Button, WriteButton } from '../../ui/button.tsx'
import { Moment } from '../../ui/moment.tsx'
import { Confirm, Dialog } from '../../ui/overlay/dialog.tsx'
import { Menu } from '../../ui/overlay/menu.tsx'
import { SecretOnce } from '../../ui/overlay/secret-once.tsx'
import { toast } from '../../ui/overlay/toasts.tsx'
import { Empty, Snippet } from '../../ui/states/empty.tsx'
import { Loaded } from '../../ui/states/loaded.tsx'
import { Panel } from '../../ui/states/page.tsx'
import { Status } from '../../ui/status.tsx'
import { type Column, DataTable } from '../../ui/table/data-table.tsx'
import css from './webhooks.module.css'

type Endpoint = Calls['listWebhookEndpoints']['reply'][number]
type Kind = Endpoint['eventKinds'][number]

const KINDS: readonly Kind[] = ['run.succeeded', 'run.failed', 'run.cancelled', 'step.failed']

interface Row extends Endpoint {
  stats: Calls['getWebhookEndpointStats']['reply'][number] | undefined
}

export function Endpoints({ shown }: { shown: string | undefined }) {
  const query = useRead('listWebhookEndpoints', {})
  const stats = useRead('getWebhookEndpointStats', {}).data ?? []
  const [isCreating, setCreating] = useState(false)
  const [secret, setSecret] = useState<string>()
  const columns = useMemo(() => columnsWith(setSecret), [])
  return (
    <>
      <Panel
        title="Endpoints"
        isFlush
        actions={
          <WriteButton kind="primary" onClick={() => setCreating(true)}>
            New endpoint…
          </WriteButton>
        }
      >
        <Loaded query={query}>
          {endpoints =>
            endpoints.length === 0 ? (
              <Empty title="No endpoint yet">
                <p>An endpoint is an address that gets a signed post when a run succeeds, fails or is cancelled.</p>
                <Snippet text="perdure webhooks endpoints create https://example.com/hook --kinds run.failed" />
              </Empty>
            ) : (
              <DataTable
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
            )
          }
        </Loaded>
      </Panel>
      {isCreating && <CreateDialog onSecret={setSecret} onClose={() => setCreating(false)} />}
      {secret !== undefined && (
        <SecretOnce
          use="The other side needs it to check signatures."
          title="The endpoint's secret"
          secret={secret}
          onClose={() => setSecret(undefined)}
        />
      )}
    </>
  )
}

function columnsWith(onSecret: (secret: string) => void): readonly Column<Row>[] {
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
      header: 'Told of',
      width: '24%',
      isSecondary: true,
      render: ({ eventKinds }) => eventKinds.join(', '),
    },
    { id: 'app', header: 'App', width: '110px', isSecondary: true, render: ({ app }) => app ?? 'every app' },
    { id: 'success', header: 'Succeeded', width: '150px', align: 'end', render: ({ stats }) => successOf(stats) },
    {
      id: 'last',
      header: 'Last',
      width: '104px',
      align: 'end',
      isSecondary: true,
      render: ({ stats }) => <Moment at={stats?.lastDelivery} />,
    },
    {
      id: 'acts',
      header: 'Actions',
      width: '96px',
      render: endpoint => <Actions of={endpoint} onSecret={onSecret} />,
    },
  ]
}

function State({ of: { enabled, disabledReason } }: { of: Endpoint }) {
  return (
    <span title={disabledReason}>
      <Status status={enabled ? 'succeeded' : 'paused'} word={enabled ? 'enabled' : 'disabled'} />
    </span>
  )
}

function successOf(stats: Row['stats']): string {
  if (!stats || stats.delivered === 0) return 'no delivery'
  return `${stats.succeeded} of ${stats.delivered}`
}

function Actions({ of: { id, url, enabled }, onSecret }: { of: Endpoint; onSecret(secret: string): void }) {
  const [asks, setAsks] = useState<'rotate' | 'delete'>()
  const navigate = useNavigate()
  const update = useWrite('updateWebhookEndpoint', ['listWebhookEndpoints'])
  const remove = useWrite('deleteWebhookEndpoint', ['listWebhookEndpoints'])
  const locked = whyNoWrite(useSession())
  const onError = (error: Error) => toast(error.message, { isError: true })
  const close = () => setAsks(undefined)
  return (
    <>
      <Menu
        label="⋯"
        name={`Actions on ${url}`}
        items={[
          { label: 'Its deliveries', onSelect: () => navigate({ to: 'deliveries', query: { endpoint: id } }) },
          {
            label: enabled ? 'Disable' : 'Enable',
            disabledBecause: locked,
            onSelect: () => update.mutate({ id, body: { enabled: !enabled } }, { onError }),
          },
          { label: 'Rotate the secret…', disabledBecause: locked, onSelect: () => setAsks('rotate') },
          { label: 'Delete…', disabledBecause: locked, isDanger: true, onSelect: () => setAsks('delete') },
        ]}
      />
      {asks === 'rotate' && (
        <Confirm
          title="Rotate the secret"
          action="Rotate"
          keep="Keep the secret"
          onClose={close}
          onConfirm={() =>
            update.mutate(
              { id, body: { rotateSecret: true } },
              { onSuccess: reply => 'secret' in reply && onSecret(String(reply.secret)), onError },
            )
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
          onClose={close}
          onConfirm={() => remove.mutate({ id }, { onError })}
        >
          It gets no more posts. Its deliveries stay in the list.
        </Confirm>
      )}
    </>
  )
}

function CreateDialog({ onSecret, onClose }: { onSecret(secret: string): void; onClose(): void }) {
  const [url, setUrl] = useState('')
  const [app, setApp] = useState('')
  const [kinds, setKinds] = useState<readonly Kind[]>(['run.failed'])
  const create = useWrite('createWebhookEndpoint', ['listWebhookEndpoints'])
  const make = () =>
    create.mutate(
      { body: { url, eventKinds: [...kinds], ...(app === '' ? {} : { app }) } },
      {
        onSuccess: ({ secret }) => {
          if (secret !== undefined) onSecret(secret)
          onClose()
        },
      },
    )
  return (
    <Dialog
      title="New endpoint"
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <WriteButton kind="primary" onClick={make}>
            Create
          </WriteButton>
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
          <legend>Told of</legend>
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
