// The actions on a receiver: its address, an edit, on and off, another secret, and the end of it.

import type { Calls } from '@perdure/client'
import { useState } from 'react'
import { useWrite } from '../../../data/write.ts'
import { ENGINE_URL } from '../../../router/base.ts'
import { useNavigate } from '../../../router/router.tsx'
import { useSession } from '../../../session/session.ts'
import { copyText } from '../../../ui/overlay/copy.tsx'
import { Confirm } from '../../../ui/overlay/dialog.tsx'
import { Menu } from '../../../ui/overlay/menu.tsx'
import { toast } from '../../../ui/overlay/toasts.tsx'
import { whyNoKeyedWrite } from '../parts/keyed.tsx'
import { RotateSecret } from '../parts/rotate.tsx'
import type { NewSecret } from '../parts/secrets.tsx'
import { EditReceiver } from './edit.tsx'

type Receiver = Calls['listWebhookReceivers']['reply'][number]

/** The address to which the provider posts. */
export const addressOf = ({ slug }: Pick<Receiver, 'slug'>) => `${ENGINE_URL}/webhooks/${slug}`

export function ReceiverActions({ of: receiver, onSecret }: { of: Receiver; onSecret(made: NewSecret): void }) {
  const { id, name, eventName, enabled } = receiver
  const [asks, setAsks] = useState<'edit' | 'change' | 'rotate' | 'delete'>()
  const navigate = useNavigate()
  const update = useWrite('updateWebhookReceiver', ['listWebhookReceivers'])
  const remove = useWrite('deleteWebhookReceiver', ['listWebhookReceivers'])
  const locked = whyNoKeyedWrite(useSession())
  const onError = (error: Error) => toast(error.message, { isError: true })
  const close = () => setAsks(undefined)
  const change = { id, body: { enabled: !enabled } }
  return (
    <>
      <Menu
        label="⋯"
        name={`Actions on ${name ?? id}`}
        items={[
          { label: 'Edit…', disabledBecause: locked, onSelect: () => setAsks('edit') },
          { label: 'Rejected requests', onSelect: () => navigate({ to: 'receiver', params: { id } }) },
          { label: 'Copy URL', onSelect: () => void copyText(addressOf(receiver)) },
          { label: 'Events', onSelect: () => navigate({ to: 'events', query: { name: eventName } }) },
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
      {asks === 'change' && (
        <Confirm
          title={enabled ? 'Disable receiver' : 'Enable receiver'}
          action={enabled ? 'Disable' : 'Enable'}
          call={{ id: 'updateWebhookReceiver', input: change }}
          onClose={close}
          onConfirm={() => update.mutate(change, { onError })}
        >
          {enabled ? 'Requests to its URL are rejected from now on.' : 'Requests to its URL become events again.'}
        </Confirm>
      )}
      {asks === 'edit' && <EditReceiver of={receiver} onClose={close} />}
      {asks === 'rotate' && (
        <RotateSecret
          operation="updateWebhookReceiver"
          id={id}
          overlap="Requests signed with the old one are accepted for another day."
          onSecret={onSecret}
          onClose={close}
        />
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
          Requests to its URL are then rejected. Its past events stay.
        </Confirm>
      )}
    </>
  )
}
