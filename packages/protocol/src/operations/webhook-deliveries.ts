// Operations that list, read and repeat webhook deliveries.

import Type from 'typebox'
import { DELIVERY_STATUSES } from '../api/values.ts'
import { WebhookDeliveryDetailSchema, WebhookDeliverySchema } from '../api/webhook-schema.ts'
import { APP_PARAM, CURSOR_PARAM, GUARDED_WEBHOOK, type Operation } from './operation.ts'
import { SAMPLE_ATTEMPT, SAMPLE_DELIVERY, SAMPLE_DELIVERY_ID } from './webhook-samples.ts'

export const listWebhookDeliveries = {
  id: 'listWebhookDeliveries',
  method: 'GET',
  path: '/webhook-deliveries',
  tag: 'webhooks',
  summary: 'List webhook deliveries, newest first',
  access: 'read',
  query: {
    status: { kind: 'enum', values: DELIVERY_STATUSES, description: 'Only deliveries of this status' },
    app: APP_PARAM,
    limit: { kind: 'integer', minimum: 1, maximum: 1000, default: 100, description: 'Rows per page' },
    cursor: CURSOR_PARAM,
  },
  reply: {
    status: 200,
    description: 'A page of deliveries',
    schema: Type.Array(WebhookDeliverySchema),
    pages: true,
  },
  errors: ['invalid_cursor'],
  examples: [
    {
      summary: 'Deliveries that used up their attempts',
      query: { status: 'exhausted', limit: '20' },
      reply: [{ ...SAMPLE_DELIVERY, status: 'exhausted', attemptCount: 8, lastStatusCode: 500 }],
    },
  ],
} as const satisfies Operation

export const getWebhookDelivery = {
  id: 'getWebhookDelivery',
  method: 'GET',
  path: '/webhook-deliveries/{id}',
  tag: 'webhooks',
  summary: 'Read one delivery with all its attempts',
  access: 'read',
  reply: { status: 200, description: 'The delivery', schema: WebhookDeliveryDetailSchema },
  errors: ['not_found'],
  examples: [
    {
      summary: 'One delivery',
      path: { id: SAMPLE_DELIVERY_ID },
      reply: { ...SAMPLE_DELIVERY, attempts: [SAMPLE_ATTEMPT] },
    },
  ],
} as const satisfies Operation

export const redeliverWebhook = {
  id: 'redeliverWebhook',
  method: 'POST',
  path: '/webhook-deliveries/{id}/redeliver',
  ...GUARDED_WEBHOOK,
  summary: 'Deliver again at once, with a new budget of attempts',
  description: 'The attempt log is kept, and the delivery gets a new signature.',
  reply: { status: 204, description: 'Queued' },
  errors: ['not_found', 'delivery_in_flight'],
  examples: [{ summary: 'Deliver once more', path: { id: SAMPLE_DELIVERY_ID } }],
} as const satisfies Operation
