// Receivers: addresses of the engine to which other systems post. A post with a valid signature becomes an event.

import type { Calls } from '@perdure/client'
import { useCallback, useMemo, useState } from 'react'
import { renew, useRead } from '../../../data/queries.ts'
import { Link } from '../../../router/router.tsx'
import { useRenewal } from '../../../ui/live-list/use-renewal.ts'
import { Moment } from '../../../ui/moment.tsx'
import { CopyButton } from '../../../ui/overlay/copy.tsx'
import { SecretOnce } from '../../../ui/overlay/secret-once.tsx'
import { toast } from '../../../ui/overlay/toasts.tsx'
import { Empty, Snippet } from '../../../ui/states/empty.tsx'
import { Loaded } from '../../../ui/states/loaded.tsx'
import { Panel } from '../../../ui/states/page.tsx'
import { Status } from '../../../ui/status.tsx'
import type { Column } from '../../../ui/table/data-table.tsx'
import type { Look } from '../../../ui/table/list-table.tsx'
import { PeekPart } from '../../../ui/table/peek-panel.tsx'
import { exactTime } from '../../../ui/time.ts'
import { AboutReceiver } from '../parts/about.tsx'
import { KeyedButton } from '../parts/keyed.tsx'
import { hasSecret, type NewSecret, SecretUse } from '../parts/secrets.tsx'
import { SettingList } from '../parts/setting-list.tsx'
import { addressOf, ReceiverActions } from './actions.tsx'
import { NewReceiver, type NewReceiverReply } from './form.tsx'
import { Refusals } from './refusals.tsx'
import { VerifyPanel } from './verify-panel.tsx'

type Receiver = Calls['listWebhookReceivers']['reply'][number]

/** Delay from an event to the next read. */
const RENEWAL_MS = 10_000

/** A secret that was created, with the receiver if that is new. */
interface Made {
  reply: NewSecret
  receiver?: NewReceiverReply
}

export function Receivers({ shown }: { shown: string | undefined }) {
  const query = useRead('listWebhookReceivers', {})
  useRenewal(() => renew('listWebhookReceivers'), { afterMs: RENEWAL_MS, topic: 'events' })
  const [isCreating, setCreating] = useState(false)
  const [made, setMade] = useState<Made>()
  const onSecret = useCallback((reply: NewSecret) => setMade({ reply }), [])
  const one = query.data?.find(({ id }) => id === shown)
  return (
    <>
      <Panel
        title="Receivers"
        isFlush
        actions={
          <KeyedButton kind="primary" onClick={() => setCreating(true)}>
            New receiver…
          </KeyedButton>
        }
      >
        <Loaded query={query}>{receivers => <List receivers={receivers} shown={shown} onSecret={onSecret} />}</Loaded>
      </Panel>
      {one && <AboutReceiver of={one} address={addressOf(one)} />}
      {one && <Refusals receiverId={one.id} />}
      {one && <VerifyPanel scheme={one.scheme} />}
      {isCreating && (
        <NewReceiver
          onMade={(receiver, isGiven) => {
            if (isGiven) toast(`Accepts requests at ${addressOf(receiver)}`)
            else if (hasSecret(receiver)) setMade({ reply: receiver, receiver })
          }}
          onClose={() => setCreating(false)}
        />
      )}
      {made && <MadeSecret of={made} onClose={() => setMade(undefined)} />}
    </>
  )
}

interface ListProps {
  receivers: readonly Receiver[]
  shown: string | undefined
  onSecret(made: NewSecret): void
}

/** All receivers, or only the selected one. */
function List({ receivers, shown, onSecret }: ListProps) {
  const columns = useMemo(() => columnsWith(onSecret), [onSecret])
  return (
    <SettingList noun="receiver" columns={columns} rows={receivers} look={lookAt} shown={shown}>
      <Empty title="No receivers yet">
        <p>
          A receiver accepts webhooks from GitHub, Stripe, Slack and others, verifies their signatures, and turns them
          into events.
        </p>
        <Snippet text="perdure webhooks receivers create github/push --scheme github" />
      </Empty>
    </SettingList>
  )
}

function MadeSecret({ of: { reply, receiver }, onClose }: { of: Made; onClose(): void }) {
  const use = receiver ? (
    <>
      The provider signs requests with it and sends them to <code>{addressOf(receiver)}</code>{' '}
      <CopyButton text={addressOf(receiver)} label="Copy URL" />
    </>
  ) : (
    <SecretUse
      of={reply}
      use="The provider signs requests with it."
      overlap="Requests signed with either are accepted"
    />
  )
  return <SecretOnce title="The receiver's secret" secret={reply.secret} use={use} onClose={onClose} />
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
      header: 'Event name',
      width: '22%',
      render: ({ eventName }) => <Link target={{ to: 'events', query: { name: eventName } }}>{eventName}</Link>,
    },
    { id: 'scheme', header: 'Signature', width: '112px', render: ({ scheme }) => scheme },
    {
      id: 'address',
      header: 'URL',
      isSecondary: true,
      render: receiver => <code title={addressOf(receiver)}>{addressOf(receiver)}</code>,
    },
    {
      id: 'accepted',
      header: 'Accepted',
      width: '100px',
      align: 'end',
      render: ({ lastAcceptedAt }) => (lastAcceptedAt === undefined ? 'never' : <Moment at={lastAcceptedAt} />),
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
      render: receiver => <ReceiverActions of={receiver} onSecret={onSecret} />,
    },
  ]
}

function lookAt(receiver: Receiver): Look {
  const { id, name, eventName, app, targetApp, scheme, keepHeaders, enabled, lastAcceptedAt } = receiver
  return {
    head: (
      <>
        <Status status={enabled ? 'succeeded' : 'paused'} word={enabled ? 'enabled' : 'disabled'} />{' '}
        <b>{name ?? eventName}</b>
      </>
    ),
    body: (
      <>
        <PeekPart name="Event name" text={eventName} />
        <PeekPart name="URL" text={addressOf(receiver)} />
        <PeekPart name="Signature" text={scheme} />
        <PeekPart
          name="Last accepted"
          text={lastAcceptedAt === undefined ? 'never' : exactTime(Date.parse(lastAcceptedAt))}
        />
        <PeekPart name="Event app" text={app} />
        <PeekPart name="For the app" text={targetApp} />
        <PeekPart name="Stored headers" text={keepHeaders?.join(', ')} />
        <PeekPart name="ID" text={id} />
      </>
    ),
  }
}
