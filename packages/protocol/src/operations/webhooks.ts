// Operations of webhooks: endpoints and their deliveries (outbound), and receivers (inbound).

import Type from 'typebox'
import { DELIVERY_STATUSES } from '../api/values.ts'
import {
  CreateWebhookEndpointSchema,
  CreateWebhookReceiverSchema,
  ReceivedWebhookSchema,
  UpdateWebhookEndpointSchema,
  UpdateWebhookReceiverSchema,
  WebhookDeliveryDetailSchema,
  WebhookDeliverySchema,
  WebhookEndpointSchema,
  WebhookEndpointStatsSchema,
  WebhookEndpointWithSecretSchema,
  WebhookHandshakeSchema,
  WebhookReceiverSchema,
  WebhookReceiverWithSecretSchema,
} from '../api/webhook-schema.ts'
import { APP_PARAM, CURSOR_PARAM, type Operation } from './operation.ts'
import {
  SAMPLE_ATTEMPT,
  SAMPLE_DELIVERY,
  SAMPLE_DELIVERY_ID,
  SAMPLE_ENDPOINT,
  SAMPLE_ENDPOINT_BODY,
  SAMPLE_ENDPOINT_ID,
  SAMPLE_RECEIVER,
  SAMPLE_RECEIVER_BODY,
  SAMPLE_RECEIVER_ID,
  SAMPLE_SECRET,
} from './webhook-samples.ts'

/** Operations that change the webhook configuration, or that post to other systems, always need a secret key. */
const guarded = { tag: 'webhooks', access: 'secret', alwaysKeyed: true } as const

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
  ...guarded,
  summary: 'Deliver again at once, with a new budget of attempts',
  description: 'The attempt log is kept, and the delivery gets a new signature.',
  reply: { status: 204, description: 'Queued' },
  errors: ['not_found', 'delivery_in_flight'],
  examples: [{ summary: 'Deliver once more', path: { id: SAMPLE_DELIVERY_ID } }],
} as const satisfies Operation

export const listWebhookEndpoints = {
  id: 'listWebhookEndpoints',
  method: 'GET',
  path: '/webhook-endpoints',
  tag: 'webhooks',
  summary: 'List webhook endpoints',
  access: 'read',
  reply: {
    status: 200,
    description: 'Every endpoint, without its secret',
    schema: Type.Array(WebhookEndpointSchema),
  },
  errors: [],
  examples: [{ summary: 'Every endpoint', reply: [SAMPLE_ENDPOINT] }],
} as const satisfies Operation

export const getWebhookEndpointStats = {
  id: 'getWebhookEndpointStats',
  method: 'GET',
  path: '/webhook-endpoints/stats',
  tag: 'webhooks',
  summary: 'Count the deliveries of every endpoint',
  access: 'read',
  query: {
    since: {
      kind: 'timestamp',
      description: 'Only deliveries created at or after this time; absent: those of the last 30 days',
    },
  },
  reply: { status: 200, description: 'One row per endpoint', schema: Type.Array(WebhookEndpointStatsSchema) },
  errors: [],
  examples: [
    {
      summary: 'Since March',
      query: { since: '2025-03-01T00:00:00Z' },
      reply: [
        {
          endpointId: SAMPLE_ENDPOINT_ID,
          delivered: 14,
          succeeded: 13,
          failed: 1,
          lastDelivery: '2025-03-01T09:00:01.400Z',
        },
      ],
    },
  ],
} as const satisfies Operation

export const createWebhookEndpoint = {
  id: 'createWebhookEndpoint',
  method: 'POST',
  path: '/webhook-endpoints',
  ...guarded,
  summary: 'Subscribe an endpoint to the lifecycle of runs',
  body: { schema: CreateWebhookEndpointSchema, required: true },
  reply: {
    status: 201,
    description: 'The endpoint with its secret, which no other reply shows',
    schema: WebhookEndpointWithSecretSchema,
  },
  errors: [],
  examples: [
    {
      summary: 'Subscribe to failures',
      body: SAMPLE_ENDPOINT_BODY,
      reply: { ...SAMPLE_ENDPOINT, secret: SAMPLE_SECRET },
    },
  ],
} as const satisfies Operation

export const updateWebhookEndpoint = {
  id: 'updateWebhookEndpoint',
  method: 'PATCH',
  path: '/webhook-endpoints/{id}',
  ...guarded,
  summary: 'Change an endpoint; fields that are left out keep their values',
  description:
    '`rotateSecret: true` issues a new secret, shown in the answer; for 24 hours both secrets sign every delivery. `revokeOldSecrets: true` revokes the old one at once.',
  body: { schema: UpdateWebhookEndpointSchema, required: true },
  reply: { status: 200, description: 'The endpoint', schema: WebhookEndpointWithSecretSchema },
  errors: ['not_found', 'conflict'],
  examples: [
    {
      summary: 'Disable an endpoint',
      path: { id: SAMPLE_ENDPOINT_ID },
      body: { enabled: false },
      reply: { ...SAMPLE_ENDPOINT, enabled: false },
    },
    {
      summary: 'Rotate the secret',
      path: { id: SAMPLE_ENDPOINT_ID },
      body: { rotateSecret: true },
      reply: { ...SAMPLE_ENDPOINT, secret: SAMPLE_SECRET },
    },
    {
      summary: 'Replace a leaked secret',
      path: { id: SAMPLE_ENDPOINT_ID },
      body: { rotateSecret: true, revokeOldSecrets: true },
      reply: { ...SAMPLE_ENDPOINT, secret: SAMPLE_SECRET },
    },
  ],
} as const satisfies Operation

export const deleteWebhookEndpoint = {
  id: 'deleteWebhookEndpoint',
  method: 'DELETE',
  path: '/webhook-endpoints/{id}',
  ...guarded,
  summary: 'Delete an endpoint; its deliveries stay in the log',
  reply: { status: 204, description: 'Deleted' },
  errors: ['not_found'],
  examples: [{ summary: 'Delete an endpoint', path: { id: SAMPLE_ENDPOINT_ID } }],
} as const satisfies Operation

export const listWebhookReceivers = {
  id: 'listWebhookReceivers',
  method: 'GET',
  path: '/webhook-receivers',
  tag: 'webhooks',
  summary: 'List webhook receivers',
  access: 'read',
  reply: {
    status: 200,
    description: 'Every receiver, without its secret',
    schema: Type.Array(WebhookReceiverSchema),
  },
  errors: [],
  examples: [{ summary: 'Every receiver', reply: [SAMPLE_RECEIVER] }],
} as const satisfies Operation

export const createWebhookReceiver = {
  id: 'createWebhookReceiver',
  method: 'POST',
  path: '/webhook-receivers',
  ...guarded,
  summary: 'Create a URL that turns verified webhooks into events',
  body: { schema: CreateWebhookReceiverSchema, required: true },
  reply: {
    status: 201,
    description: 'The receiver with its secret, which no other reply shows',
    schema: WebhookReceiverWithSecretSchema,
  },
  errors: ['conflict', 'slug_taken'],
  examples: [
    {
      summary: 'Receive parcel events',
      body: SAMPLE_RECEIVER_BODY,
      reply: { ...SAMPLE_RECEIVER, secret: SAMPLE_SECRET },
    },
  ],
} as const satisfies Operation

export const updateWebhookReceiver = {
  id: 'updateWebhookReceiver',
  method: 'PATCH',
  path: '/webhook-receivers/{id}',
  ...guarded,
  summary: 'Change a receiver; fields that are left out keep their values, and the slug never changes',
  description:
    '`rotateSecret: true` issues a new secret, shown in the answer; for 24 hours both secrets are accepted. `revokeOldSecrets: true` revokes the old one at once.',
  body: { schema: UpdateWebhookReceiverSchema, required: true },
  reply: { status: 200, description: 'The receiver', schema: WebhookReceiverWithSecretSchema },
  errors: ['not_found', 'conflict'],
  examples: [
    {
      summary: 'Change the event name',
      path: { id: SAMPLE_RECEIVER_ID },
      body: { eventName: 'parcel/gone' },
      reply: { ...SAMPLE_RECEIVER, eventName: 'parcel/gone' },
    },
  ],
} as const satisfies Operation

export const deleteWebhookReceiver = {
  id: 'deleteWebhookReceiver',
  method: 'DELETE',
  path: '/webhook-receivers/{id}',
  ...guarded,
  summary: 'Delete a receiver',
  reply: { status: 204, description: 'Deleted' },
  errors: ['not_found'],
  examples: [{ summary: 'Delete a receiver', path: { id: SAMPLE_RECEIVER_ID } }],
} as const satisfies Operation

export const receiveWebhook = {
  id: 'receiveWebhook',
  method: 'POST',
  path: '/webhooks/{slug}',
  tag: 'webhooks',
  summary: "Receive a provider's webhook as an event, verified with the receiver's secret",
  description:
    'Accepts any content type. The signature is verified on the raw bytes; a repeat of the message id within 24 hours is dropped.',
  access: 'public',
  reply: { status: 202, description: 'Accepted', schema: ReceivedWebhookSchema },
  otherwise: {
    status: 200,
    description: "The answer to a handshake of the provider: Slack's `url_verification`, GitHub's `ping`",
    schema: WebhookHandshakeSchema,
  },
  errors: ['unauthorized', 'not_found', 'payload_too_large'],
  rawBody: true,
  examples: [
    {
      summary: 'Receive a parcel event',
      path: { slug: SAMPLE_RECEIVER.slug },
      headers: {
        'webhook-id': 'msg_2KWP',
        'webhook-timestamp': '1740819600',
        'webhook-signature': 'v1,+/CVO0Qv5eUGxLU5WT0YNphUIVRcLtp+AMd3Pq7JHjM=',
      },
      body: { orderId: '4711', parcel: 'DE-77-1093' },
      reply: { eventId: 'evt_01JD8Z9W5Z8B1D4F7H0K3N6Q9S' },
    },
  ],
} as const satisfies Operation
