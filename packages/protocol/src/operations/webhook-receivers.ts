// Operations of webhook receivers, the URLs whose verified posts become events.

import Type from 'typebox'
import * as api from '../api/schema.ts'
import { created, GUARDED_WEBHOOK, type Operation, ok } from './operation.ts'
import * as sample from './webhook-samples.ts'

export const receivers = {
  listWebhookReceivers: {
    method: 'GET',
    path: '/webhook-receivers',
    summary: 'List webhook receivers',
    access: 'read',
    reply: ok('Every receiver, without its secret', Type.Array(api.WebhookReceiverSchema)),
    examples: [
      { summary: 'Every receiver', reply: [{ ...sample.RECEIVER, lastAcceptedAt: '2025-03-01T09:00:00.000Z' }] },
    ],
  },

  createWebhookReceiver: {
    method: 'POST',
    path: '/webhook-receivers',
    ...GUARDED_WEBHOOK,
    summary: 'Create a URL that turns verified webhooks into events',
    body: { schema: api.CreateWebhookReceiverSchema, required: true },
    reply: created('The receiver with its secret, which no other reply shows', api.WebhookReceiverWithSecretSchema),
    errors: ['conflict', 'slug_taken'],
    examples: [
      {
        summary: 'Receive parcel events',
        body: sample.RECEIVER_BODY,
        reply: { ...sample.RECEIVER, secret: sample.SECRET },
      },
    ],
  },

  updateWebhookReceiver: {
    method: 'PATCH',
    path: '/webhook-receivers/{id}',
    ...GUARDED_WEBHOOK,
    summary: 'Change a receiver; fields that are left out keep their values, and the slug never changes',
    description:
      '`rotateSecret: true` issues a new secret, shown in the answer; for 24 hours both secrets are accepted. `revokeOldSecrets: true` revokes the old one at once.',
    body: { schema: api.UpdateWebhookReceiverSchema, required: true },
    reply: ok('The receiver', api.WebhookReceiverWithSecretSchema),
    errors: ['not_found', 'conflict'],
    examples: [
      {
        summary: 'Change the event name',
        path: { id: sample.RECEIVER_ID },
        body: { eventName: 'parcel/gone' },
        reply: { ...sample.RECEIVER, eventName: 'parcel/gone' },
      },
    ],
  },

  deleteWebhookReceiver: {
    method: 'DELETE',
    path: '/webhook-receivers/{id}',
    ...GUARDED_WEBHOOK,
    summary: 'Delete a receiver',
    reply: { status: 204, description: 'Deleted' },
    errors: ['not_found'],
    examples: [{ summary: 'Delete a receiver', path: { id: sample.RECEIVER_ID } }],
  },

  listWebhookRefusals: {
    method: 'GET',
    path: '/webhook-receivers/{id}/refusals',
    summary: 'List the last 20 posts that a receiver refused, newest first',
    description:
      'Kept in the memory of the engine that answers, for the receivers with the newest refusals. Neither a body nor the value of a header is kept.',
    access: 'read',
    reply: ok('The refused posts', Type.Array(api.WebhookRefusalSchema)),
    errors: ['not_found'],
    examples: [
      {
        summary: 'A provider with an old secret, and one with a wrong clock',
        path: { id: sample.RECEIVER_ID },
        reply: [
          { at: '2025-03-01T09:12:00.100Z', reason: 'wrong_signature', sizeBytes: 2210, address: '203.0.113.7' },
          { at: '2025-03-01T09:05:41.020Z', reason: 'stale', offSeconds: 412, sizeBytes: 187, address: '203.0.113.9' },
        ],
      },
    ],
  },

  receiveWebhook: {
    method: 'POST',
    path: '/webhooks/{slug}',
    summary: "Receive a provider's webhook as an event, verified with the receiver's secret",
    description:
      'Accepts any content type. The signature is verified on the raw bytes; a repeat of the message id within 24 hours is dropped.',
    access: 'public',
    anyQuery: true,
    reply: { status: 202, description: 'Accepted', schema: api.ReceivedWebhookSchema },
    otherwise: ok(
      "The answer to a handshake of the provider: Slack's `url_verification`, GitHub's `ping`",
      api.WebhookHandshakeSchema,
    ),
    errors: ['unauthorized', 'not_found', 'payload_too_large'],
    rawBody: true,
    examples: [
      {
        summary: 'Receive a parcel event',
        path: { slug: sample.RECEIVER.slug },
        headers: {
          'webhook-id': 'msg_2KWP',
          'webhook-timestamp': '1740819600',
          'webhook-signature': 'v1,+/CVO0Qv5eUGxLU5WT0YNphUIVRcLtp+AMd3Pq7JHjM=',
        },
        body: { orderId: '4711', parcel: 'DE-77-1093' },
        reply: { eventId: 'evt_01JD8Z9W5Z8B1D4F7H0K3N6Q9S' },
      },
    ],
  },
} as const satisfies Record<string, Operation>
