// One delivery: its payload, and every attempt with the answer that it got.

import type { Calls } from '@perdure/client'
import { sourceOf } from '../../data/json/parse.ts'
import { useRead, useWrite } from '../../data/queries.ts'
import { ENGINE_URL } from '../../router/base.ts'
import { Link } from '../../router/router.tsx'
import { WriteButton } from '../../ui/button.tsx'
import { durationText } from '../../ui/duration.ts'
import { Facts } from '../../ui/facts.tsx'
import { JsonTree } from '../../ui/json/json-tree.tsx'
import { Moment } from '../../ui/moment.tsx'
import { copyText } from '../../ui/overlay/copy.tsx'
import { Menu } from '../../ui/overlay/menu.tsx'
import { toast } from '../../ui/overlay/toasts.tsx'
import { Loaded } from '../../ui/states/loaded.tsx'
import { Page, Panel } from '../../ui/states/page.tsx'
import { Status } from '../../ui/status.tsx'
import { Visible } from '../../ui/visible.tsx'
import css from './webhooks.module.css'

export function DeliveryView({ id }: { id: string }) {
  const query = useRead('getWebhookDelivery', { id }, { keep: false })
  const redeliver = useWrite('redeliverWebhook', ['getWebhookDelivery', 'listWebhookDeliveries'])
  const again = () =>
    redeliver.mutate(
      { id },
      {
        onSuccess: () => toast('It is posted again'),
        onError: error => toast(error.message, { isError: true }),
      },
    )
  return (
    <Page
      title="Delivery"
      actions={
        <>
          <Menu
            label="Copy as"
            items={[
              { label: 'perdure command', onSelect: () => void copyText(`perdure webhooks deliveries get ${id}`) },
              { label: 'curl', onSelect: () => void copyText(`curl ${ENGINE_URL}/webhook-deliveries/${id}`) },
            ]}
          />
          <WriteButton kind="primary" onClick={again}>
            Redeliver
          </WriteButton>
        </>
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
                  [
                    'Endpoint',
                    delivery.endpointId && (
                      <Link target={{ to: 'endpoint', params: { id: delivery.endpointId } }}>
                        {delivery.endpointId}
                      </Link>
                    ),
                  ],
                  [
                    'Run',
                    delivery.sourceRunId && (
                      <Link target={{ to: 'run', params: { id: delivery.sourceRunId } }}>{delivery.sourceRunId}</Link>
                    ),
                  ],
                  ['App', delivery.app],
                  ['Created', <Moment key="c" at={delivery.createdAt} />],
                  ['Next attempt', delivery.nextAttemptAt && <Moment at={delivery.nextAttemptAt} />],
                  ['Id', <code key="id">{delivery.id}</code>],
                ]}
              />
            </Panel>
            <Attempts delivery={delivery} />
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

function Attempts({ delivery }: { delivery: Calls['getWebhookDelivery']['reply'] }) {
  return (
    <Panel title={`Attempts: ${delivery.attemptCount} of ${delivery.maxAttempts}`}>
      <ol className={css.attempts}>
        {delivery.attempts.map(attempt => (
          <li key={attempt.id}>
            <span>
              <Status
                status={attempt.outcome === 'succeeded' ? 'succeeded' : 'failed'}
                word={`${attempt.attempt}. ${attempt.outcome.replaceAll('_', ' ')}`}
              />{' '}
              <span className={css.mute}>
                {attempt.statusCode ?? ''} after {durationText(attempt.durationMs)}, <Moment at={attempt.createdAt} />
              </span>
            </span>
            {attempt.error !== undefined && <Visible text={attempt.error} />}
            {attempt.responseSnippet !== undefined && (
              <pre>
                <Visible text={attempt.responseSnippet} />
              </pre>
            )}
          </li>
        ))}
        {delivery.attempts.length === 0 && <li className={css.mute}>Not tried yet.</li>}
      </ol>
    </Panel>
  )
}
