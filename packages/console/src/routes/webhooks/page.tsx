// Webhooks: deliveries, the endpoints that get them, and receivers, which turn posts from other systems into events.

import { Link, usePage } from '../../router/router.tsx'
import { Page } from '../../ui/states/page.tsx'
import { Deliveries } from './deliveries.tsx'
import { DeliveryView } from './delivery.tsx'
import { Endpoints } from './endpoints.tsx'
import { OpenEngineNote } from './parts/keyed.tsx'
import { Receivers } from './receivers/receivers.tsx'
import css from './webhooks.module.css'

const KINDS = [
  ['deliveries', 'Deliveries'],
  ['endpoints', 'Endpoints'],
  ['receivers', 'Receivers'],
] as const

export default function WebhooksPage() {
  const { name, params } = usePage()
  if (name === 'delivery') return <DeliveryView id={params.id as string} />
  const kind = name.startsWith('endpoint') ? 'endpoints' : name.startsWith('receiver') ? 'receivers' : 'deliveries'
  return (
    <Page title="Webhooks">
      <nav className={css.kinds} aria-label="Kinds of webhooks">
        {KINDS.map(([to, label]) => (
          <Link key={to} target={{ to }} aria-current={kind === to ? 'page' : undefined}>
            {label}
          </Link>
        ))}
      </nav>
      <OpenEngineNote />
      {kind === 'deliveries' && <Deliveries />}
      {kind === 'endpoints' && <Endpoints shown={params.id} />}
      {kind === 'receivers' && <Receivers shown={params.id} />}
    </Page>
  )
}
