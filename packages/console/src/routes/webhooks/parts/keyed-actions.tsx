// The menu of an endpoint or a receiver: its own actions, and those that both have: enable, disable, rotate the secret, and
// delete.

import { useState } from 'react'
import type { Call } from '../../../data/commands/request.ts'
import { useWrite } from '../../../data/write.ts'
import { useNavigate } from '../../../router/router.tsx'
import { useSession } from '../../../session/session.ts'
import { Confirm } from '../../../ui/overlay/dialog.tsx'
import { Menu, type MenuItem } from '../../../ui/overlay/menu.tsx'
import { toastError } from '../../../ui/overlay/toasts.tsx'
import { whyNoKeyedWrite } from './keyed.tsx'
import { RotateSecret } from './rotate.tsx'
import type { NewSecret } from './secrets.tsx'

const OPERATIONS = {
  endpoint: { update: 'updateWebhookEndpoint', remove: 'deleteWebhookEndpoint', list: 'listWebhookEndpoints' },
  receiver: { update: 'updateWebhookReceiver', remove: 'deleteWebhookReceiver', list: 'listWebhookReceivers' },
} as const

export interface KeyedActionsProps {
  kind: keyof typeof OPERATIONS
  of: { id: string; enabled: boolean }
  name: string
  /** Its own actions, which come first. */
  items: readonly MenuItem[]
  /** One sentence for each of the other actions: its effect. */
  sentences: Record<'disable' | 'enable' | 'rotate' | 'delete', string>
  onSecret(made: NewSecret): void
}

export function KeyedActions({ kind, of: { id, enabled }, name, items, sentences, onSecret }: KeyedActionsProps) {
  const [asks, setAsks] = useState<'change' | 'rotate' | 'delete'>()
  const operations = OPERATIONS[kind]
  const navigate = useNavigate()
  const update = useWrite(operations.update, [operations.list])
  const remove = useWrite(operations.remove, [operations.list])
  const locked = whyNoKeyedWrite(useSession())
  const close = () => setAsks(undefined)
  const change = { id, body: { enabled: !enabled } }
  return (
    <>
      <Menu
        label="⋯"
        name={`Actions on ${name}`}
        items={[
          ...items,
          { label: 'Audit entries', onSelect: () => navigate({ to: 'audit', query: { target: id } }) },
          { label: enabled ? 'Disable…' : 'Enable…', disabledBecause: locked, onSelect: () => setAsks('change') },
          { label: 'Rotate secret…', disabledBecause: locked, onSelect: () => setAsks('rotate') },
          { label: 'Delete…', disabledBecause: locked, isDanger: true, onSelect: () => setAsks('delete') },
        ]}
      />
      {asks === 'change' && (
        <Confirm
          title={`${enabled ? 'Disable' : 'Enable'} ${kind}`}
          action={enabled ? 'Disable' : 'Enable'}
          call={{ id: operations.update, input: change } as Call}
          onClose={close}
          onConfirm={() => update.mutate(change, { onError: toastError })}
        >
          {enabled ? sentences.disable : sentences.enable}
        </Confirm>
      )}
      {asks === 'rotate' && (
        <RotateSecret
          operation={operations.update}
          id={id}
          overlap={sentences.rotate}
          onSecret={onSecret}
          onClose={close}
        />
      )}
      {asks === 'delete' && (
        <Confirm
          title={`Delete ${name}`}
          action="Delete"
          isDanger
          call={{ id: operations.remove, input: { id } } as Call}
          onClose={close}
          onConfirm={() => remove.mutate({ id }, { onError: toastError })}
        >
          {sentences.delete}
        </Confirm>
      )}
    </>
  )
}
