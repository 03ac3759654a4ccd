// Sample values for the examples of the webhook operations: an endpoint for failed orders, a receiver for parcels,
// and a delivery.

export const DELIVERY_ID = 'dlv_01JD8Z5R1N4Q7T0W3Z6B9E2G5J'
export const ENDPOINT_ID = 'whe_01JD8Y0A3D6F9H2K5N8Q1S4V7X'
export const RECEIVER_ID = 'whr_01JD8Y1B4E7G0J3M6P9R2T5W8Y'

const created = { createdAt: '2025-03-01T08:00:00.000Z', updatedAt: '2025-03-01T08:00:00.000Z' } as const

export const ENDPOINT_BODY = {
  name: 'Alerts',
  app: 'shop',
  url: 'https://alerts.example.com/hooks/perdure',
  eventKinds: ['run.failed', 'step.failed'],
} as const

export const ENDPOINT = {
  id: ENDPOINT_ID,
  ...ENDPOINT_BODY,
  scheme: 'standard-webhooks',
  enabled: true,
  ...created,
} as const

export const RECEIVER_BODY = { name: 'Warehouse', app: 'shop', eventName: 'parcel/left' } as const

export const RECEIVER = {
  id: RECEIVER_ID,
  ...RECEIVER_BODY,
  slug: 'warehouse',
  scheme: 'standard-webhooks',
  enabled: true,
  ...created,
} as const

export const SECRET = 'whsec_YW4gZXhhbXBsZSwgbm90IGEgc2VjcmV0OiBtYWRlIHVw'

export const DELIVERY = {
  id: DELIVERY_ID,
  app: 'shop',
  url: 'https://warehouse.example.com/orders',
  eventKind: 'custom',
  payload: { orderId: '4711' },
  status: 'succeeded',
  attemptCount: 1,
  maxAttempts: 8,
  lastStatusCode: 200,
  createdAt: '2025-03-01T09:00:01.400Z',
  updatedAt: '2025-03-01T09:00:01.620Z',
} as const

export const ATTEMPT = {
  id: 'att_01JD8Z5R1P8S1V4Y7A0C3F6H9K',
  attempt: 1,
  outcome: 'succeeded',
  statusCode: 200,
  responseSnippet: 'ok',
  durationMs: 212,
  createdAt: '2025-03-01T09:00:01.405Z',
} as const

export const TEST_DELIVERY = {
  ...DELIVERY,
  endpointId: ENDPOINT_ID,
  url: ENDPOINT.url,
  eventKind: 'test',
  payload: { type: 'test', timestamp: DELIVERY.createdAt, data: { endpointId: ENDPOINT_ID } },
  maxAttempts: 1,
} as const

export const REQUEST_HEADERS = {
  'content-type': 'application/json',
  'user-agent': 'perdure/webhooks',
  'webhook-id': DELIVERY_ID,
  'webhook-timestamp': '1740819601',
  'webhook-signature': 'v1,kcR8Qn1o…',
} as const
