// The actions on an endpoint: a test and an edit, in addition to those that receivers also have.

import { useState } from 'react'
import { useWrite } from '../../data/write.ts'
import { useNavigate } from '../../router/router.tsx'
import { useSession } from '../../session/session.ts'
import { Confirm } from '../../ui/overlay/dialog.tsx'
import { toast, toastError } from '../../ui/overlay/toasts.tsx'
import { EditEndpoint, type Endpoint } from './endpoint-form.tsx'
import { whyNoKeyedWrite } from './parts/keyed.tsx'
import { KeyedActions } from './parts/keyed-actions.tsx'
import type { NewSecret } from './parts/secrets.tsx'
import type { TestedDelivery } from './test-result.tsx'

/** The functions that receive the result of an action: a new secret, the outcome of a test. */
export interface Outcomes {
  onSecret(made: NewSecret): void
  onTested(delivery: TestedDelivery): void
}

const SENTENCES = {
  disable: 'Runs that end from now on are not delivered to it.',
  enable: 'Runs that end from now on are delivered to it.',
  rotate: 'Deliveries are signed with both secrets for a day, so none is rejected.',
  delete: 'It receives no more deliveries. Past deliveries stay in the list.',
}

export function EndpointActions({ of: endpoint, onSecret, onTested }: { of: Endpoint } & Outcomes) {
  const { id, url } = endpoint
  const [asks, setAsks] = useState<'test' | 'edit'>()
  const navigate = useNavigate()
  const test = useWrite('testWebhookEndpoint', ['listWebhookDeliveries'])
  const locked = whyNoKeyedWrite(useSession())
  const send = () => {
    toast(`Sending a test to ${url}`)
    test.mutate({ id }, { onSuccess: onTested, onError: toastError })
  }
  const close = () => setAsks(undefined)
  return (
    <>
      <KeyedActions
        kind="endpoint"
        of={endpoint}
        name={url}
        items={[
          { label: 'Send test…', disabledBecause: locked, onSelect: () => setAsks('test') },
          { label: 'Edit…', disabledBecause: locked, onSelect: () => setAsks('edit') },
          { label: 'Deliveries', onSelect: () => navigate({ to: 'deliveries', query: { endpoint: id } }) },
        ]}
        sentences={SENTENCES}
        onSecret={onSecret}
      />
      {asks === 'test' && (
        <Confirm
          title="Send test"
          action="Send"
          call={{ id: 'testWebhookEndpoint', input: { id } }}
          onConfirm={send}
          onClose={close}
        >
          {url} receives one signed delivery, without retries. The response is shown here.
        </Confirm>
      )}
      {asks === 'edit' && <EditEndpoint of={endpoint} onClose={close} />}
    </>
  )
}
