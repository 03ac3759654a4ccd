// The outcome of a test post to an endpoint: the answer, the request, and a link to its delivery.

import type { Calls } from '@perdure/client'
import { Link } from '../../router/router.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/overlay/dialog.tsx'
import { Attempts } from './attempts.tsx'

export type TestedDelivery = Calls['testWebhookEndpoint']['reply']

export function TestResult({ delivery, onClose }: { delivery: TestedDelivery; onClose(): void }) {
  const { id, url, status } = delivery
  return (
    <Dialog
      title={status === 'succeeded' ? 'Test delivered' : 'Test failed'}
      isWide
      onClose={onClose}
      actions={
        <Button data-autofocus="" onClick={onClose}>
          Done
        </Button>
      }
    >
      <p>Sent to {url}, signed like any delivery, without retries.</p>
      <p>
        <Link target={{ to: 'delivery', params: { id } }}>{id}</Link>
      </p>
      <Attempts delivery={delivery} />
    </Dialog>
  )
}
