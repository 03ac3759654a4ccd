// The actions on an endpoint: a test, on and off, another secret, and the end of it.

import type { Calls, Input } from '@perdure/client'
import { useState } from 'react'
import { useWrite } from '../../data/write.ts'
import { useNavigate } from '../../router/router.tsx'
import { useSession } from '../../session/session.ts'
import { Confirm } from '../../ui/overlay/dialog.tsx'
import { Menu } from '../../ui/overlay/menu.tsx'
import { toast } from '../../ui/overlay/toasts.tsx'
import { whyNoKeyedWrite } from './parts/keyed.tsx'
import { hasSecret, type NewSecret } from './parts/secrets.tsx'
import type { TestedDelivery } from './test-result.tsx'

/** The functions to call with what an action gives: a new secret, the outcome of a test. */
export interface Outcomes {
  onSecret(made: NewSecret): void
  onTested(delivery: TestedDelivery): void
}

type Endpoint = Calls['listWebhookEndpoints']['reply'][number]

export function EndpointActions({ of: { id, url, enabled }, onSecret, onTested }: { of: Endpoint } & Outcomes) {
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
