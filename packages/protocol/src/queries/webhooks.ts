// The query parameters of operations on webhook deliveries and endpoints.

import { DELIVERY_KINDS, DELIVERY_STATUSES } from '../api/values.ts'
import { APP_PARAM, ID_CHARS_MAX, pageParams, type QueryParams, SPAN_PARAMS } from './param.ts'

const FILTERS = {
  app: APP_PARAM,
  endpointId: { kind: 'name', maxLength: ID_CHARS_MAX, description: 'Only deliveries to this endpoint' },
  eventKind: { kind: 'enum', values: DELIVERY_KINDS, description: 'Only deliveries of this kind' },
  sourceRunId: {
    kind: 'name',
    ofRun: true,
    maxLength: ID_CHARS_MAX,
    description: 'Only deliveries that this run caused',
  },
  since: { kind: 'timestamp', description: 'Only deliveries created at or after this time' },
  until: { kind: 'timestamp', description: 'Only deliveries created before this time' },
} as const

export const webhooks = {
  listWebhookDeliveries: {
    status: { kind: 'enum', values: DELIVERY_STATUSES, description: 'Only deliveries of this status' },
    ...FILTERS,
    ...pageParams({ maximum: 1000 }),
  },

  getWebhookDeliveryFacets: FILTERS,

  getWebhookEndpointStats: {
    since: {
      kind: 'timestamp',
      description: 'Only deliveries created at or after this time; absent: those of the last 30 days',
    },
  },

  getWebhookEndpointSeries: {
    ...SPAN_PARAMS,
    endpointId: { kind: 'name', maxLength: ID_CHARS_MAX, description: 'Only posts to this endpoint' },
  },
} as const satisfies Record<string, QueryParams>
