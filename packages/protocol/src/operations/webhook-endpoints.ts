// Operations of webhook endpoints, the URLs that get deliveries about runs.

import Type from 'typebox'
import * as api from '../api/schema.ts'
import { webhooks as queries } from '../queries/webhooks.ts'
import { created, GUARDED_WEBHOOK, type Operation, ok } from './operation.ts'
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
    query: queries.getWebhookEndpointStats,
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

  getWebhookEndpointSeries: {
    method: 'GET',
    path: '/webhook-endpoints/series',
    summary: 'Count the posts to endpoints over time',
    description:
      'A point for each span of time, oldest first: the attempts of deliveries that ended in it, of one endpoint or of all. Tests and attempts that posted nothing are not counted. A span without posts has zeros and no percentiles. Spans begin at full five minutes, hours or days in UTC, and the first one contains `since`.',
    access: 'read',
    query: queries.getWebhookEndpointSeries,
    reply: ok('The points', Type.Array(api.WebhookSeriesPointSchema)),
    examples: [
      {
        summary: 'The posts of two days',
        query: { step: '1d', since: '2025-03-01T00:00:00Z', until: '2025-03-03T00:00:00Z' },
        reply: [
          { at: '2025-03-01T00:00:00.000Z', succeeded: 412, failed: 3, p50Ms: 88, p95Ms: 372 },
          { at: '2025-03-02T00:00:00.000Z', succeeded: 0, failed: 0 },
        ],
      },
    ],
  },

  testWebhookEndpoint: {
    method: 'POST',
    path: '/webhook-endpoints/{id}/test',
    ...GUARDED_WEBHOOK,
    summary: 'Post a test to an endpoint, and answer the result',
    description:
      'The delivery has the kind `test`, is signed like any other, and is tried once: the answer comes after at most 15 s and the commit. A disabled endpoint is posted to as well. At most 4 tests of a namespace and 16 of an engine are in progress at once; beyond that the answer is `overloaded`.',
    reply: ok('The delivery, with its attempt', api.WebhookDeliveryDetailSchema),
    errors: ['not_found'],
    examples: [
      {
        summary: 'Test an endpoint',
        path: { id: sample.ENDPOINT_ID },
        reply: { ...sample.TEST_DELIVERY, attempts: [{ ...sample.ATTEMPT, requestHeaders: sample.REQUEST_HEADERS }] },
      },
    ],
  },

  createWebhookEndpoint: {
    method: 'POST',
    path: '/webhook-endpoints',
    ...GUARDED_WEBHOOK,
    summary: 'Subscribe an endpoint to the lifecycle of runs',
    body: { schema: api.CreateWebhookEndpointSchema, required: true },
    reply: created('The endpoint with its secret, which no other reply shows', api.WebhookEndpointWithSecretSchema),
    errors: ['conflict'],
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
