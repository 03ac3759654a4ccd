// Operations of webhook endpoints, the URLs that get deliveries about runs.

import Type from 'typebox'
import {
  CreateWebhookEndpointSchema,
  UpdateWebhookEndpointSchema,
  WebhookEndpointSchema,
  WebhookEndpointStatsSchema,
  WebhookEndpointWithSecretSchema,
} from '../api/webhook-schema.ts'
import { GUARDED_WEBHOOK, type Operation } from './operation.ts'
import {
  SAMPLE_ENDPOINT,
  SAMPLE_ENDPOINT_BODY,
  SAMPLE_ENDPOINT_ID,
  SAMPLE_SECRET,
} from './webhook-samples.ts'

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
  ...GUARDED_WEBHOOK,
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
  ...GUARDED_WEBHOOK,
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
  ...GUARDED_WEBHOOK,
  summary: 'Delete an endpoint; its deliveries stay in the log',
  reply: { status: 204, description: 'Deleted' },
  errors: ['not_found'],
  examples: [{ summary: 'Delete an endpoint', path: { id: SAMPLE_ENDPOINT_ID } }],
} as const satisfies Operation
