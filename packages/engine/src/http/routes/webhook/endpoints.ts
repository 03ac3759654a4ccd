// Webhook endpoints and the statistics of their deliveries (docs/webhooks.md#what-endpoints-receive).

import type {
  CreateWebhookEndpoint,
  UpdateWebhookEndpoint,
  WebhookEndpoint,
  WebhookEndpointStats,
} from '@perdure/protocol'
import { operations } from '@perdure/protocol/operations'
import type { FastifyInstance } from 'fastify'
import type { Endpoint } from '../../../domain/model/endpoint.ts'
import { invalid } from '../../../domain/model/errors.ts'
import { timestamp } from '../../../domain/text/timestamp.ts'
import type { EndpointStats } from '../../../ports/store-reads.ts'
import type { HttpContext } from '../../access/context.ts'
import { mount } from '../../access/mount.ts'
import { scan } from '../../access/scan.ts'
import { checkUrl } from '../../request/validate.ts'
import { sendJson } from '../../response/reply.ts'
import { mountSetting } from './settings.ts'

/** The period of the statistics without `since` (docs/operating.md#bounds). */
const STATS_WINDOW_MS = 30 * 24 * 3_600_000

export function webhookEndpointRoutes(app: FastifyInstance, context: HttpContext): void {
  const { endpoints, store, clock } = context.deps

  mountSetting<Endpoint, CreateWebhookEndpoint, UpdateWebhookEndpoint>(app, context, {
    noun: 'webhook endpoint',
    operations: {
      list: operations.listWebhookEndpoints,
      create: operations.createWebhookEndpoint,
      update: operations.updateWebhookEndpoint,
      remove: operations.deleteWebhookEndpoint,
    },
    service: endpoints,
    members: ['url', 'eventKinds', 'name', 'app', 'enabled', 'secret'],
    names: ['name', 'app'],
    check: ({ url }) => {
      if (url !== undefined) checkUrl(url)
    },
    present: presentEndpoint,
  })

  mount(app, context, operations.getWebhookEndpointStats, async (request, reply, query) => {
    const { namespace } = request.actor
    const since = query.since ?? clock.now() - STATS_WINDOW_MS
    const counted = await scan(context, reply, signal => store.in(namespace).endpointStats(since, signal), {
      tooWide: () => invalid('since', 'leaves too many deliveries to count: give a later time'),
    })
    const stats = new Map(counted.map(row => [row.endpointId, row]))
    const rows = endpoints.list(namespace).map(({ id }) => presentStats(id, stats.get(id)))
    return sendJson(reply, 200, JSON.stringify(rows))
  })
}

function presentEndpoint(endpoint: Endpoint): WebhookEndpoint {
  return {
    id: endpoint.id,
    name: endpoint.name,
    app: endpoint.app,
    url: endpoint.url,
    scheme: 'standard-webhooks',
    eventKinds: [...endpoint.eventKinds],
    enabled: endpoint.enabled,
    disabledReason: endpoint.disabledReason,
    createdAt: timestamp(endpoint.createdAt),
    updatedAt: timestamp(endpoint.updatedAt),
  }
}

/** An endpoint without deliveries has a row too. */
function presentStats(endpointId: string, stats: EndpointStats | undefined): WebhookEndpointStats {
  if (!stats) return { endpointId, delivered: 0, succeeded: 0, failed: 0 }
  const { delivered, succeeded, failed, lastDelivery } = stats
  return { endpointId, delivered, succeeded, failed, lastDelivery: timestamp(lastDelivery) }
}
