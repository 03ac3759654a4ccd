// The actions on a receiver: its address, on and off, another secret, and the end of it.

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
import { hasSecret, type NewSecret } from '../parts/secrets.tsx'

type Receiver = Calls['listWebhookReceivers']['reply'][number]

/** The address to which the provider posts. */
export const addressOf = ({ slug }: Pick<Receiver, 'slug'>) => `${ENGINE_URL}/webhooks/${slug}`

export function ReceiverActions({ of: receiver, onSecret }: { of: Receiver; onSecret(made: NewSecret): void }) {
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
