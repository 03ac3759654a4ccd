// Asks before the secret of an endpoint or a receiver is replaced. The old one stays valid for another day, unless it has leaked.

import { useState } from 'react'
import type { Call } from '../../../data/commands/request.ts'
import { useWrite } from '../../../data/write.ts'
import { Confirm } from '../../../ui/overlay/dialog.tsx'
import { toastError } from '../../../ui/overlay/toasts.tsx'
import { hasSecret, type NewSecret } from './secrets.tsx'

export interface RotateSecretProps {
  operation: 'updateWebhookEndpoint' | 'updateWebhookReceiver'
  id: string
  /** The sentence for the time in which both secrets are valid. */
  overlap: string
  onSecret(made: NewSecret): void
  onClose(): void
}

export function RotateSecret({ operation, id, overlap, onSecret, onClose }: RotateSecretProps) {
  const [revokes, setRevokes] = useState(false)
  const update = useWrite(operation, ['listWebhookEndpoints', 'listWebhookReceivers'])
  const input = { id, body: { rotateSecret: true, ...(revokes ? { revokeOldSecrets: true } : {}) } }
  return (
    <Confirm
      title="Rotate secret"
      action="Rotate"
      isDanger={revokes}
      call={{ id: operation, input } as Call}
      onClose={onClose}
      onConfirm={() =>
        update.mutate(input, { onSuccess: reply => hasSecret(reply) && onSecret(reply), onError: toastError })
      }
    >
      <p>The new secret is shown once. {revokes ? 'The old secret is no longer valid.' : overlap}</p>
      <label>
        <input type="checkbox" checked={revokes} onChange={event => setRevokes(event.target.checked)} /> Revoke the old
        secret now: it has leaked
      </label>
    </Confirm>
  )
}
