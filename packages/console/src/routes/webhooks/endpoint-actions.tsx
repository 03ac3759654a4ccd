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
    toast(`Sending a test to ${url}`)
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
          { label: 'Send test…', disabledBecause: locked, onSelect: () => setAsks('test') },
          { label: 'Deliveries', onSelect: () => navigate({ to: 'deliveries', query: { endpoint: id } }) },
          { label: 'Audit entries', onSelect: () => navigate({ to: 'audit', query: { target: id } }) },
          {
            label: enabled ? 'Disable…' : 'Enable…',
            disabledBecause: locked,
            onSelect: () => setAsks('change'),
          },
          { label: 'Rotate secret…', disabledBecause: locked, onSelect: () => setAsks('rotate') },
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
          title="Rotate secret"
          action="Rotate"
          call={{ id: 'updateWebhookEndpoint', input: rotation }}
          onClose={close}
          onConfirm={() =>
            update.mutate(rotation, {
              onSuccess: reply => hasSecret(reply) && onSecret(reply),
              onError,
            })
          }
        >
          The new secret is shown once. Deliveries are signed with both secrets for a day, so none is rejected.
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
          It receives no more deliveries. Past deliveries stay in the list.
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
    <Confirm title="Send test" action="Send" call={{ id: 'testWebhookEndpoint', input: { id } }} {...on}>
      {url} receives one signed delivery, without retries. The response is shown here.
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
      title={isEnabled ? 'Disable endpoint' : 'Enable endpoint'}
      action={isEnabled ? 'Disable' : 'Enable'}
      call={{ id: 'updateWebhookEndpoint', input: change }}
      {...on}
    >
      {isEnabled
        ? 'Runs that end from now on are not delivered to it.'
        : 'Runs that end from now on are delivered to it.'}
    </Confirm>
  )
}
