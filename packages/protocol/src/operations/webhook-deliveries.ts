// Operations that list, read and repeat webhook deliveries.

import * as api from '../api/schema.ts'
import { webhooks as queries } from '../queries/webhooks.ts'
import { GUARDED_WEBHOOK, type Operation, ok, page } from './operation.ts'
import * as sample from './webhook-samples.ts'

export const deliveries = {
  listWebhookDeliveries: {
    method: 'GET',
    path: '/webhook-deliveries',
    summary: 'List webhook deliveries, newest first',
    access: 'read',
    query: queries.listWebhookDeliveries,
    reply: page('A page of deliveries', api.WebhookDeliverySchema),
    errors: ['invalid_cursor'],
    examples: [
      {
        summary: 'Deliveries that used up their attempts',
        query: { status: 'exhausted', limit: '20' },
        reply: [{ ...sample.DELIVERY, status: 'exhausted', attemptCount: 8, lastStatusCode: 500 }],
      },
    ],
  },

  getWebhookDeliveryFacets: {
    method: 'GET',
    path: '/webhook-deliveries/facets',
    summary: 'Count webhook deliveries by status',
    description:
      'Of each status the newest 5,000 are looked at; of one that succeeded, the newest 5,000 of any status. With `endpointId` or `sourceRunId`, the newest 5,000 of it are.',
    access: 'read',
    query: queries.getWebhookDeliveryFacets,
    reply: ok('The counts', api.WebhookDeliveryFacetsSchema),
    examples: [
      {
        summary: 'The deliveries of the shop',
        query: { app: sample.DELIVERY.app },
        reply: { status: { pending: 2, delivering: 1, succeeded: '4980+', failed: 3, exhausted: 12, dead: 0 } },
      },
    ],
  },

  getWebhookDelivery: {
    method: 'GET',
    path: '/webhook-deliveries/{id}',
    summary: 'Read one delivery with all its attempts',
    access: 'read',
    reply: ok('The delivery', api.WebhookDeliveryDetailSchema),
    errors: ['not_found'],
    examples: [
      {
        summary: 'One delivery',
        path: { id: sample.DELIVERY_ID },
        reply: { ...sample.DELIVERY, attempts: [sample.ATTEMPT] },
      },
    ],
  },

  redeliverWebhook: {
    method: 'POST',
    path: '/webhook-deliveries/{id}/redeliver',
    ...GUARDED_WEBHOOK,
    summary: 'Deliver again at once, with a new budget of attempts',
    description: 'The attempt log is kept, and the delivery gets a new signature.',
    reply: { status: 204, description: 'Queued' },
    errors: ['not_found', 'delivery_in_flight'],
    examples: [{ summary: 'Deliver once more', path: { id: sample.DELIVERY_ID } }],
  },

  redeliverWebhooks: {
    method: 'POST',
    path: '/webhook-deliveries/redeliver',
    ...GUARDED_WEBHOOK,
    summary: 'Deliver again all deliveries that match, up to 1,000',
    description:
      'Each as by [`POST /webhook-deliveries/{id}/redeliver`](#post-webhook-deliveriesidredeliver). The newest are taken if more match; deliveries in progress are skipped. The filter needs a member.',
    body: { schema: api.RedeliverWebhooksSchema, required: true },
    reply: ok('How many', api.RedeliveredWebhooksSchema),
    examples: [
      {
        summary: 'All that an endpoint missed',
        body: { filter: { endpointId: sample.ENDPOINT_ID, status: 'exhausted' } },
        reply: { matched: 412, queued: 412, skipped: 0, capped: false },
      },
    ],
  },
} as const satisfies Record<string, Operation>
