// Operations of webhook receivers, the URLs whose verified posts become events.

import Type from 'typebox'
import {
  CreateWebhookReceiverSchema,
  ReceivedWebhookSchema,
  UpdateWebhookReceiverSchema,
  WebhookHandshakeSchema,
  WebhookReceiverSchema,
  WebhookReceiverWithSecretSchema,
} from '../api/webhook-schema.ts'
import { GUARDED_WEBHOOK, type Operation } from './operation.ts'
import {
  SAMPLE_RECEIVER,
  SAMPLE_RECEIVER_BODY,
  SAMPLE_RECEIVER_ID,
  SAMPLE_SECRET,
} from './webhook-samples.ts'

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
  ...GUARDED_WEBHOOK,
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
  ...GUARDED_WEBHOOK,
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
  ...GUARDED_WEBHOOK,
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
