// One delivery, kept live: its payload, and every attempt with the answer it got.

import { useState } from 'react'
import { sourceOf } from '../../data/json/parse.ts'
import { useRead } from '../../data/queries.ts'
import { useWrite } from '../../data/write.ts'
import { useTopic } from '../../live/use-live.ts'
import { Link } from '../../router/router.tsx'
import { Facts } from '../../ui/facts.tsx'
import { JsonTree } from '../../ui/json/json-tree.tsx'
import { Moment } from '../../ui/moment.tsx'
import { Confirm } from '../../ui/overlay/dialog.tsx'
import { toast, toastError } from '../../ui/overlay/toasts.tsx'
import { Loaded } from '../../ui/states/loaded.tsx'
import { Page, Panel } from '../../ui/states/page.tsx'
import { Status } from '../../ui/status.tsx'
import { AttemptSchedule, Attempts } from './attempts.tsx'
import { KeyedButton } from './parts/keyed.tsx'

export function DeliveryView({ id }: { id: string }) {
  const query = useLiveDelivery(id)
  const redeliver = useWrite('redeliverWebhook', ['getWebhookDelivery', 'listWebhookDeliveries'])
  const [isAsking, setAsking] = useState(false)
  const again = () => redeliver.mutate({ id }, { onSuccess: () => toast('Redelivery queued'), onError: toastError })
  return (
    <Page
      title="Delivery"
      actions={
        query.data && (
          <>
            <KeyedButton kind="primary" onClick={() => setAsking(true)}>
              Redeliver…
            </KeyedButton>
            {isAsking && (
              <Confirm
                title="Redeliver"
                action="Redeliver"
                call={{ id: 'redeliverWebhook', input: { id } }}
                onConfirm={again}
                onClose={() => setAsking(false)}
              >
                It is sent immediately, with a new signature and a full retry schedule.
              </Confirm>
            )}
          </>
        )
      }
    >
      <Loaded query={query}>
        {delivery => (
          <>
            <Panel title="Delivery">
              <Facts
                facts={[
                  ['Status', <Status key="s" status={delivery.status} />],
                  ['Event', delivery.eventKind],
                  ['To', delivery.url],
                  ['Endpoint', delivery.endpointId && <IdLink key="e" to="endpoint" id={delivery.endpointId} />],
                  ['Run', delivery.sourceRunId && <IdLink key="r" to="run" id={delivery.sourceRunId} />],
                  ['App', delivery.app],
                  ['Created', <Moment key="c" at={delivery.createdAt} />],
                  ['Next attempt', delivery.nextAttemptAt && <Moment at={delivery.nextAttemptAt} />],
                  ['ID', <code key="id">{delivery.id}</code>],
                ]}
              />
            </Panel>
            <Panel title={`Attempts: ${delivery.attemptCount} of ${delivery.maxAttempts}`}>
              <AttemptSchedule delivery={delivery} />
              <Attempts delivery={delivery} />
            </Panel>
            {delivery.payload !== undefined && (
              <Panel title="Body">
                <JsonTree text={sourceOf(delivery.payload)} label="the body of the request" />
              </Panel>
            )}
          </>
        )}
      </Loaded>
    </Page>
  )
}

/** Returns the delivery, read again when one of its frames arrives: frames have no attempts. */
function useLiveDelivery(id: string) {
  const query = useRead('getWebhookDelivery', { id }, { keep: false })
  const { refetch, data } = query
  useTopic(data && 'deliveries', {
    onBatch: ({ frames }) => {
      if (frames.some(frame => frame.id === id)) void refetch()
    },
    onGap: async () => {
      if ((await refetch()).isError) throw new Error('the delivery could not be loaded')
    },
  })
  return query
}

function IdLink({ to, id }: { to: 'endpoint' | 'run'; id: string }) {
  return (
    <Link target={{ to, params: { id } }}>
      <code>{id}</code>
    </Link>
  )
}
