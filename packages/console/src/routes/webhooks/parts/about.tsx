// One endpoint or receiver in full, with its valid secrets.

import type { Calls } from '@perdure/client'
import { Facts } from '../../../ui/facts.tsx'
import { Moment } from '../../../ui/moment.tsx'
import { CopyButton } from '../../../ui/overlay/copy.tsx'
import { Panel } from '../../../ui/states/page.tsx'
import { SecretsInUse } from './secrets.tsx'

type Endpoint = Calls['listWebhookEndpoints']['reply'][number]
type Receiver = Calls['listWebhookReceivers']['reply'][number]

/** The endpoint, with the reason if the engine has disabled it. */
export function AboutEndpoint({ of: endpoint }: { of: Endpoint }) {
  const { id, url, name, app, scheme, eventKinds, enabled, disabledReason, oldSecretsUntil, createdAt } = endpoint
  return (
    <Panel title="Endpoint">
      <Facts
        facts={[
          ['State', enabled ? 'enabled' : `disabled${disabledReason === undefined ? '' : `: ${disabledReason}`}`],
          ['URL', url],
          ['Label', name],
          ['Events', eventKinds.join(', ')],
          ['App', app ?? 'every app'],
          ['Signature', scheme],
          ['Secrets', <SecretsInUse key="secrets" oldUntil={oldSecretsUntil} overlap="old and new both sign" />],
          ['Created', <Moment key="at" at={createdAt} />],
          ['ID', <code key="id">{id}</code>],
        ]}
      />
    </Panel>
  )
}

export function AboutReceiver({ of: receiver, address }: { of: Receiver; address: string }) {
  const { id, eventName, app, targetApp, scheme, keepHeaders, enabled } = receiver
  const { oldSecretsUntil, lastAcceptedAt, createdAt } = receiver
  return (
    <Panel title="Receiver">
      <Facts
        facts={[
          ['State', enabled ? 'enabled' : 'disabled'],
          [
            'URL',
            <span key="address">
              {address} <CopyButton text={address} label="Copy URL" />
            </span>,
          ],
          ['Event', eventName],
          ['Event app', app],
          ['For the app', targetApp ?? 'every app'],
          ['Signature', scheme],
          ['Stored headers', keepHeaders?.join(', ')],
          ['Last accepted', lastAcceptedAt === undefined ? 'never' : <Moment key="accepted" at={lastAcceptedAt} />],
          [
            'Secrets',
            <SecretsInUse key="secrets" oldUntil={oldSecretsUntil} overlap="old and new are both accepted" />,
          ],
          ['Created', <Moment key="at" at={createdAt} />],
          ['ID', <code key="id">{id}</code>],
        ]}
      />
    </Panel>
  )
}
