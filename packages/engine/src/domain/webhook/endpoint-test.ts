// The delivery that tests an endpoint (docs/webhooks.md#test-an-endpoint): leased from the start by the engine that posts it,
// and tried once. Called by services/webhook/endpoint-tests.

import { type Delivery, newDelivery } from '../model/delivery.ts'
import type { Endpoint } from '../model/endpoint.ts'
import { timestamp } from '../text/timestamp.ts'

export function testDelivery(
  { namespace, id: endpointId, url, app = '' }: Endpoint,
  { id, owner, now, leaseMs }: { id: string; owner: string; now: number; leaseMs: number },
): Delivery {
  const payload = JSON.stringify({ type: 'test', timestamp: timestamp(now), data: { endpointId } })
  const about = { namespace, id, app, endpointId, url, payload, eventKind: 'test' } as const
  return {
    ...newDelivery(now, { ...about, maxAttempts: 1 }),
    status: 'delivering',
    fence: 1,
    leaseOwner: owner,
    availableAt: now + leaseMs,
  }
}
