// Webhook endpoints: the URLs that are notified about runs (docs/webhooks.md#what-endpoints-receive). Called by the HTTP
// routes. Deliveries are decided from the catalog, which has every change as soon as it is committed.

import type { CreateWebhookEndpoint, UpdateWebhookEndpoint } from '@perdure/protocol'
import type { Endpoint } from '../../domain/model/endpoint.ts'
import { invalid } from '../../domain/model/errors.ts'
import { broughtSecretFault } from '../../domain/webhook/secrets.ts'
import type { Actor } from '../commit/audit.ts'
import { newWebhookSecret, type Saved, VersionedResource, type VersionedResourceDeps } from './versioned-resource.ts'

/** Maximum endpoints of a namespace: every end of a run checks each of them. */
const ENDPOINTS_MAX = 1000

export class Endpoints extends VersionedResource<Endpoint, UpdateWebhookEndpoint> {
  constructor(deps: VersionedResourceDeps) {
    super(deps, {
      name: 'webhook endpoint',
      idPrefix: 'whe',
      countMax: ENDPOINTS_MAX,
      guardType: 'endpoint',
      list: namespace => deps.catalog.view(namespace).endpoints(),
      saved: endpoint => ({ type: 'endpoint.saved', endpoint }),
      // Deliveries of the endpoint stay in the log; those not sent yet are skipped.
      deleted: (namespace, id) => ({ type: 'endpoint.deleted', namespace, id }),
      edited,
      newSecret: newWebhookSecret,
    })
  }

  async create(actor: Actor, { secret: adopted, ...fields }: CreateWebhookEndpoint): Promise<Saved<Endpoint>> {
    const fault = adopted === undefined ? undefined : broughtSecretFault(adopted)
    if (fault) throw invalid('secret', fault)
    const eventKinds = [...new Set(fields.eventKinds)]
    const enabled = fields.enabled ?? true
    return this.build(actor, {
      secret: adopted ?? newWebhookSecret(),
      complete: common => ({ ...common, ...fields, eventKinds, enabled }),
    })
  }
}

function edited(before: Endpoint, edit: UpdateWebhookEndpoint): Endpoint {
  const { name = before.name, app = before.app, url = before.url, enabled = before.enabled } = edit
  const eventKinds = edit.eventKinds === undefined ? before.eventKinds : [...new Set(edit.eventKinds)]
  const disabledReason = enabled ? undefined : before.disabledReason
  const optional = { name: name ?? undefined, app: app ?? undefined, disabledReason }
  return { ...before, ...optional, url, eventKinds, enabled }
}
