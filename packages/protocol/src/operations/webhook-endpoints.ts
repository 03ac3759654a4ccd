// Operations of webhook endpoints, the URLs that get deliveries about runs.

import Type from 'typebox'
import * as api from '../api/schema.ts'
import { GUARDED_WEBHOOK, type Operation, ok } from './operation.ts'
import * as sample from './webhook-samples.ts'

export const endpoints = {
  listWebhookEndpoints: {
    method: 'GET',
    path: '/webhook-endpoints',
    summary: 'List webhook endpoints',
    access: 'read',
    reply: ok('Every endpoint, without its secret', Type.Array(api.WebhookEndpointSchema)),
    examples: [{ summary: 'Every endpoint', reply: [sample.ENDPOINT] }],
  },

  getWebhookEndpointStats: {
    method: 'GET',
    path: '/webhook-endpoints/stats',
    summary: 'Count the deliveries of every endpoint',
    access: 'read',
    query: {
      since: {
        kind: 'timestamp',
        description: 'Only deliveries created at or after this time; absent: those of the last 30 days',
      },
    },
    reply: ok('One row per endpoint', Type.Array(api.WebhookEndpointStatsSchema)),
    examples: [
      {
        summary: 'Since March',
        query: { since: '2025-03-01T00:00:00Z' },
        reply: [
          {
            endpointId: sample.ENDPOINT_ID,
            delivered: 14,
            succeeded: 13,
            failed: 1,
            lastDelivery: '2025-03-01T09:00:01.400Z',
          },
        ],
      },
    ],
  },

  createWebhookEndpoint: {
    method: 'POST',
    path: '/webhook-endpoints',
    ...GUARDED_WEBHOOK,
    summary: 'Subscribe an endpoint to the lifecycle of runs',
    body: { schema: api.CreateWebhookEndpointSchema, required: true },
    reply: {
      status: 201,
      description: 'The endpoint with its secret, which no other reply shows',
      schema: api.WebhookEndpointWithSecretSchema,
    },
    examples: [
      {
        summary: 'Subscribe to failures',
        body: sample.ENDPOINT_BODY,
        reply: { ...sample.ENDPOINT, secret: sample.SECRET },
      },
    ],
  },

  updateWebhookEndpoint: {
    method: 'PATCH',
    path: '/webhook-endpoints/{id}',
    ...GUARDED_WEBHOOK,
    summary: 'Change an endpoint; fields that are left out keep their values',
    description:
      '`rotateSecret: true` issues a new secret, shown in the answer; for 24 hours both secrets sign every delivery. `revokeOldSecrets: true` revokes the old one at once.',
    body: { schema: api.UpdateWebhookEndpointSchema, required: true },
    reply: ok('The endpoint', api.WebhookEndpointWithSecretSchema),
    errors: ['not_found', 'conflict'],
    examples: [
      {
        summary: 'Disable an endpoint',
        path: { id: sample.ENDPOINT_ID },
        body: { enabled: false },
        reply: { ...sample.ENDPOINT, enabled: false },
      },
      {
        summary: 'Rotate the secret',
        path: { id: sample.ENDPOINT_ID },
        body: { rotateSecret: true },
        reply: { ...sample.ENDPOINT, secret: sample.SECRET },
      },
      {
        summary: 'Replace a leaked secret',
        path: { id: sample.ENDPOINT_ID },
        body: { rotateSecret: true, revokeOldSecrets: true },
        reply: { ...sample.ENDPOINT, secret: sample.SECRET },
      },
    ],
  },

  deleteWebhookEndpoint: {
    method: 'DELETE',
    path: '/webhook-endpoints/{id}',
    ...GUARDED_WEBHOOK,
    summary: 'Delete an endpoint; its deliveries stay in the log',
    reply: { status: 204, description: 'Deleted' },
    errors: ['not_found'],
    examples: [{ summary: 'Delete an endpoint', path: { id: sample.ENDPOINT_ID } }],
  },
} as const satisfies Record<string, Operation>
