// Redelivers all deliveries that match the filters of the list: first their number, then the action.

import type { Input } from '@perdure/client'
import { useEffect } from 'react'
import { useWrite } from '../../data/write.ts'
import { Confirm } from '../../ui/overlay/dialog.tsx'
import { Polite } from '../../ui/overlay/polite.tsx'
import { toast, toastError } from '../../ui/overlay/toasts.tsx'

export type RedeliverFilter = Input<'redeliverWebhooks'>['body']['filter']

/**
 * Returns a function that redelivers all matches and shows how many there were. The component that shows the dialog calls this,
 * so that it outlives the dialog.
 */
export function useRedeliverAll(filter: RedeliverFilter): () => void {
  const { mutate } = useWrite('redeliverWebhooks', ['listWebhookDeliveries'])
  return () =>
    mutate(
      { body: { filter } },
      { onSuccess: ({ queued, skipped }) => toast(`${queued} queued, ${skipped} skipped`), onError: toastError },
    )
}

export interface RedeliverAllProps {
  filter: RedeliverFilter
  onConfirm(): void
  onClose(): void
}

export function RedeliverAll({ filter, onConfirm, onClose }: RedeliverAllProps) {
  const count = useWrite('redeliverWebhooks')
  const { mutate } = count
  useEffect(() => mutate({ body: { filter, dryRun: true } }), [mutate, filter])
  const found = count.data
  const queued = found?.queued ?? 0
  const unready = found ? (queued === 0 ? 'No delivery can be redelivered' : undefined) : 'Counting deliveries'
  return (
    <Confirm
      title="Redeliver all matching"
      action={found ? `Redeliver ${queued}` : 'Redeliver'}
      call={{ id: 'redeliverWebhooks', input: { body: { filter } } }}
      disabledBecause={count.error?.message ?? unready}
      onClose={onClose}
      onConfirm={onConfirm}
    >
      {count.error ? (
        <p role="alert">{count.error.message}</p>
      ) : (
        <p>
          <Polite text={found ? sentenceOf(found) : 'Counting…'} /> Each is sent immediately, with a new signature and a
          full retry schedule.
        </p>
      )}
    </Confirm>
  )
}

function sentenceOf({ matched, skipped, capped }: { matched: number; skipped: number; capped: boolean }): string {
  const all = capped
    ? `More than ${matched} deliveries match; the newest ${matched} are redelivered.`
    : `${matched} match.`
  return skipped === 0 ? all : `${all} ${skipped} ${skipped === 1 ? 'is' : 'are'} in progress and will be skipped.`
}
