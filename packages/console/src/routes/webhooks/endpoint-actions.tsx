// The actions on an endpoint: a test, an edit, on and off, another secret, and the end of it.

import type { Input } from '@perdure/client'
import { useState } from 'react'
import { useWrite } from '../../data/write.ts'
import { useNavigate } from '../../router/router.tsx'
import { useSession } from '../../session/session.ts'
import { Confirm } from '../../ui/overlay/dialog.tsx'
import { Menu } from '../../ui/overlay/menu.tsx'
import { toast } from '../../ui/overlay/toasts.tsx'
import { EditEndpoint, type Endpoint } from './endpoint-form.tsx'
import { whyNoKeyedWrite } from './parts/keyed.tsx'
import { RotateSecret } from './parts/rotate.tsx'
import type { NewSecret } from './parts/secrets.tsx'
import type { TestedDelivery } from './test-result.tsx'

/** The functions to call with what an action gives: a new secret, the outcome of a test. */
export interface Outcomes {
  onSecret(made: NewSecret): void
  onTested(delivery: TestedDelivery): void
}

export function EndpointActions({ of: endpoint, onSecret, onTested }: { of: Endpoint } & Outcomes) {
  const { id, url, enabled } = endpoint
  const [asks, setAsks] = useState<'test' | 'edit' | 'change' | 'rotate' | 'delete'>()
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
  return (
    <>
      <Menu
        label="⋯"
        name={`Actions on ${url}`}
        items={[
          { label: 'Send test…', disabledBecause: locked, onSelect: () => setAsks('test') },
          { label: 'Edit…', disabledBecause: locked, onSelect: () => setAsks('edit') },
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
      {asks === 'edit' && <EditEndpoint of={endpoint} onClose={close} />}
      {asks === 'rotate' && (
        <RotateSecret
          operation="updateWebhookEndpoint"
          id={id}
          overlap="Deliveries are signed with both secrets for a day, so none is rejected."
          onSecret={onSecret}
          onClose={close}
        />
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
