// Webhook endpoints: the URLs that are notified of how runs go (docs/webhooks.md#what-endpoints-receive). Called by the
// HTTP routes. Deliveries are decided from the catalog, which has every change as soon as it is committed.

import type { CreateWebhookEndpoint, UpdateWebhookEndpoint } from '@perdure/protocol'
import type { Endpoint, SavedEndpoint } from '../../domain/model/endpoint.ts'
import { invalid } from '../../domain/model/errors.ts'
import { broughtSecretFault } from '../../domain/webhook/secrets.ts'
import { newWebhookSecret, VersionedResource, type VersionedResourceDeps } from './versioned-resource.ts'

/** Endpoints a namespace may have: every end of a run checks each of them. */
const ENDPOINTS_MAX = 1000

export class Endpoints {
  readonly #deps: VersionedResourceDeps
  readonly #resource: VersionedResource<Endpoint, UpdateWebhookEndpoint>

  constructor(deps: VersionedResourceDeps) {
    this.#deps = deps
    this.#resource = new VersionedResource<Endpoint, UpdateWebhookEndpoint>(deps, {
      name: 'webhook endpoint',
      idPrefix: 'whe',
      countMax: ENDPOINTS_MAX,
      guardType: 'endpoint',
      list: namespace => this.list(namespace),
      saved: endpoint => ({ type: 'endpoint.saved', endpoint }),
      deleted: (namespace, id) => ({ type: 'endpoint.deleted', namespace, id }),
      edited,
      newSecret: newWebhookSecret,
    })
  }

  /** Oldest first. */
  list(namespace: string): Endpoint[] {
    return this.#deps.catalog.view(namespace).endpoints()
  }

  /** Answers the secret in clear text: this is the only time it shows. */
  async create(
    namespace: string,
    { secret: adopted, ...fields }: CreateWebhookEndpoint,
  ): Promise<SavedEndpoint> {
    const fault = adopted === undefined ? undefined : broughtSecretFault(adopted)
    if (fault) throw invalid('secret', fault)
    const secret = adopted ?? newWebhookSecret()
    const eventKinds = [...new Set(fields.eventKinds)]
    const enabled = fields.enabled ?? true
    const endpoint = await this.#resource.create(namespace, {
      secret,
      build: common => ({ ...common, ...fields, eventKinds, enabled }),
    })
    return { endpoint, secret }
  }

  /** Throws `not_found` for an id that the namespace lacks. */
  async update(namespace: string, id: string, edit: UpdateWebhookEndpoint): Promise<SavedEndpoint> {
    const { saved: endpoint, ...made } = await this.#resource.update(namespace, id, edit)
    return { endpoint, ...made }
  }

  /** Its deliveries stay in the log; those not sent yet are skipped. Throws `not_found`. */
  delete(namespace: string, id: string): Promise<void> {
    return this.#resource.delete(namespace, id)
  }
}

function edited(before: Endpoint, edit: UpdateWebhookEndpoint): Endpoint {
  const { name = before.name, app = before.app, url = before.url, enabled = before.enabled } = edit
  const eventKinds = edit.eventKinds === undefined ? before.eventKinds : [...new Set(edit.eventKinds)]
  const disabledReason = enabled ? undefined : before.disabledReason
  const optional = { name: name ?? undefined, app: app ?? undefined, disabledReason }
  return { ...before, ...optional, url, eventKinds, enabled }
}
