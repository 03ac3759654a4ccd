// Receivers: addresses of the engine at which other systems post. A post whose signature holds becomes an event.

import type { Calls } from '@perdure/client'
import { useState } from 'react'
import { itemsOf, usePages, useRead } from '../../data/queries.ts'
import { useWrite } from '../../data/write.ts'
import { ENGINE_URL } from '../../router/base.ts'
import { Link, useNavigate } from '../../router/router.tsx'
import { useSession } from '../../session/session.ts'
import { Moment } from '../../ui/moment.tsx'
import { copyText } from '../../ui/overlay/copy.tsx'
import { Confirm } from '../../ui/overlay/dialog.tsx'
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
import { AboutReceiver } from './about.tsx'
import { whyNoKeyedWrite } from './keyed.tsx'
import { Refusals } from './refusals.tsx'
import { hasSecret, type NewSecret, SecretUse } from './secrets.tsx'
import { VerifyPanel } from './verify-panel.tsx'

type Receiver = Calls['listWebhookReceivers']['reply'][number]

const EVENT_STALE_MS = 60_000

const addressOf = ({ slug }: Receiver) => `${ENGINE_URL}/webhooks/${slug}`

export function Receivers({ shown }: { shown: string | undefined }) {
  const query = useRead('listWebhookReceivers', {})
  const [secret, setSecret] = useState<NewSecret>()
  const columns = columnsWith(setSecret)
  const one = query.data?.find(({ id }) => id === shown)
  return (
    <>
      <Panel title="Receivers" isFlush>
        <Loaded query={query}>
          {receivers =>
            receivers.length === 0 ? (
              <Empty title="No receiver yet">
                <p>
                  A receiver takes posts of GitHub, Stripe, Slack and others, checks their signature, and makes events
                  of them.
                </p>
                <Snippet text="perdure webhooks receivers create github/push --scheme github" />
              </Empty>
            ) : (
              <WholeRows count={receivers.length}>
                <ListTable
                  label="Receivers"
                  columns={columns}
                  rows={receivers.filter(({ id }) => shown === undefined || id === shown)}
                  keyOf={({ id }) => id}
                />
              </WholeRows>
            )
          }
        </Loaded>
      </Panel>
      {one && <AboutReceiver of={one} address={addressOf(one)} />}
      {one && <Refusals receiverId={one.id} />}
      {one && <VerifyPanel scheme={one.scheme} />}
      {secret !== undefined && (
        <SecretOnce
          use={<SecretUse of={secret} overlap="Posts that are signed with either are taken" />}
          title="The receiver's secret"
          secret={secret.secret}
          onClose={() => setSecret(undefined)}
        />
      )}
    </>
  )
}

function columnsWith(onSecret: (made: NewSecret) => void): readonly Column<Receiver>[] {
  return [
    {
      id: 'state',
      header: 'State',
      width: '104px',
      render: ({ enabled }) => (
        <Status status={enabled ? 'succeeded' : 'paused'} word={enabled ? 'enabled' : 'disabled'} />
      ),
    },
    {
      id: 'name',
      header: 'Name',
      width: '18%',
      render: ({ id, name }) => <Link target={{ to: 'receiver', params: { id } }}>{name ?? id}</Link>,
    },
    {
      id: 'event',
      header: 'Becomes',
      width: '17%',
      render: ({ eventName }) => <Link target={{ to: 'events', query: { name: eventName } }}>{eventName}</Link>,
    },
    { id: 'scheme', header: 'Signature', width: '112px', render: ({ scheme }) => scheme },
    {
      id: 'address',
      header: 'Address',
      isSecondary: true,
      render: receiver => <code title={addressOf(receiver)}>{addressOf(receiver)}</code>,
    },
    {
      id: 'accepted',
      header: 'Last event',
      width: '100px',
      align: 'end',
      render: ({ eventName }) => <LastEvent name={eventName} />,
    },
    {
      id: 'updated',
      header: 'Changed',
      width: '92px',
      align: 'end',
      isSecondary: true,
      render: ({ updatedAt }) => <Moment at={updatedAt} />,
    },
    {
      id: 'acts',
      header: 'Actions',
      width: '76px',
      render: receiver => <Actions of={receiver} onSecret={onSecret} />,
    },
  ]
}

/** The newest event of the name that posts become. The first name with a beginning is the one that equals it. */
function LastEvent({ name }: { name: string }) {
  const query = usePages('listEventNames', { prefix: name, limit: 1 }, { staleMs: EVENT_STALE_MS, keep: false })
  const last = itemsOf(query).find(each => each.name === name)
  if (!last) return query.data ? 'never' : null
  return (
    <Link target={{ to: 'event', params: { id: last.lastEventId } }}>
      <Moment at={last.lastAt} />
    </Link>
  )
}

function Actions({ of: receiver, onSecret }: { of: Receiver; onSecret(made: NewSecret): void }) {
  const { id, name, eventName, enabled } = receiver
  const [asks, setAsks] = useState<'change' | 'rotate' | 'delete'>()
  const navigate = useNavigate()
  const update = useWrite('updateWebhookReceiver', ['listWebhookReceivers'])
  const remove = useWrite('deleteWebhookReceiver', ['listWebhookReceivers'])
  const locked = whyNoKeyedWrite(useSession())
  const onError = (error: Error) => toast(error.message, { isError: true })
  const close = () => setAsks(undefined)
  const change = { id, body: { enabled: !enabled } }
  const rotation = { id, body: { rotateSecret: true } }
  return (
    <>
      <Menu
        label="⋯"
        name={`Actions on ${name ?? id}`}
        items={[
          { label: 'Refused posts', onSelect: () => navigate({ to: 'receiver', params: { id } }) },
          { label: 'Copy its address', onSelect: () => void copyText(addressOf(receiver)) },
          { label: 'Its events', onSelect: () => navigate({ to: 'events', query: { name: eventName } }) },
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
      {asks === 'change' && (
        <Confirm
          title={enabled ? 'Disable the receiver' : 'Enable the receiver'}
          action={enabled ? 'Disable' : 'Enable'}
          keep={enabled ? 'Keep it enabled' : 'Keep it disabled'}
          call={{ id: 'updateWebhookReceiver', input: change }}
          onClose={close}
          onConfirm={() => update.mutate(change, { onError })}
        >
          {enabled ? 'Posts to its address are refused from now on.' : 'Posts to its address become events again.'}
        </Confirm>
      )}
      {asks === 'rotate' && (
        <Confirm
          title="Rotate the secret"
          action="Rotate"
          keep="Keep the secret"
          call={{ id: 'updateWebhookReceiver', input: rotation }}
          onClose={close}
          onConfirm={() =>
            update.mutate(rotation, {
              onSuccess: reply => hasSecret(reply) && onSecret(reply),
              onError,
            })
          }
        >
          The new secret is shown once. Posts that are signed with the old one are taken for a day more.
        </Confirm>
      )}
      {asks === 'delete' && (
        <Confirm
          title={`Delete ${name ?? id}`}
          action="Delete"
          isDanger
          call={{ id: 'deleteWebhookReceiver', input: { id } }}
          onClose={close}
          onConfirm={() => remove.mutate({ id }, { onError })}
        >
          Posts to its address are refused from then on. The events that it made stay.
        </Confirm>
      )}
    </>
  )
}
