// Webhook endpoints on the wire (contract §2.9). Names every field: a secret cannot slip out of a read.

import type { WebhookEndpoint, WebhookEndpointStats } from '@perdure/protocol'
import type { Endpoint } from '../../../domain/model/endpoint.ts'
import { timestamp } from '../../../domain/text/timestamp.ts'
import type { EndpointStats } from '../../../ports/store-reads.ts'

export function presentEndpoint(endpoint: Endpoint): WebhookEndpoint {
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

/** A row for every endpoint, those without a delivery too. */
export function presentStats(endpointId: string, stats: EndpointStats | undefined): WebhookEndpointStats {
  if (!stats) return { endpointId, delivered: 0, succeeded: 0, failed: 0 }
  const { delivered, succeeded, failed, lastDelivery } = stats
  return { endpointId, delivered, succeeded, failed, lastDelivery: timestamp(lastDelivery) }
}
