// The actions on a receiver: its address and an edit, in addition to those that endpoints also have.

import type { Calls } from '@perdure/client'
import { useState } from 'react'
import { ENGINE_URL } from '../../../router/base.ts'
import { useNavigate } from '../../../router/router.tsx'
import { useSession } from '../../../session/session.ts'
import { copyText } from '../../../ui/overlay/copy.tsx'
import { whyNoKeyedWrite } from '../parts/keyed.tsx'
import { KeyedActions } from '../parts/keyed-actions.tsx'
import type { NewSecret } from '../parts/secrets.tsx'
import { EditReceiver } from './edit.tsx'

type Receiver = Calls['listWebhookReceivers']['reply'][number]

/** The address to which the provider posts. */
export const addressOf = ({ slug }: Pick<Receiver, 'slug'>) => `${ENGINE_URL}/webhooks/${slug}`

const SENTENCES = {
  disable: 'Requests to its URL are rejected from now on.',
  enable: 'Requests to its URL become events again.',
  rotate: 'Requests signed with the old one are accepted for another day.',
  delete: 'Requests to its URL are then rejected. Its past events stay.',
}

export function ReceiverActions({ of: receiver, onSecret }: { of: Receiver; onSecret(made: NewSecret): void }) {
  const { id, name = id, eventName } = receiver
  const [isEdited, setEdited] = useState(false)
  const navigate = useNavigate()
  return (
    <>
      <KeyedActions
        kind="receiver"
        of={receiver}
        name={name}
        items={[
          { label: 'Edit…', disabledBecause: whyNoKeyedWrite(useSession()), onSelect: () => setEdited(true) },
          { label: 'Rejected requests', onSelect: () => navigate({ to: 'receiver', params: { id } }) },
          { label: 'Copy URL', onSelect: () => void copyText(addressOf(receiver)) },
          { label: 'Events', onSelect: () => navigate({ to: 'events', query: { name: eventName } }) },
        ]}
        sentences={SENTENCES}
        onSecret={onSecret}
      />
      {isEdited && <EditReceiver of={receiver} onClose={() => setEdited(false)} />}
    </>
  )
}
