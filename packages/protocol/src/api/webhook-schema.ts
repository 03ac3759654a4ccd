// Schemas of webhooks: outbound endpoints and deliveries, inbound receivers. No record contains a signing secret: the
// reply that creates a secret shows it once.

import Type from 'typebox'
import { Timestamp, text } from '../wire/schema-parts.ts'

/** Bounds of the strings, in characters. A shorter secret than `secretMin` would be easy to guess. */
export const WEBHOOK_BOUNDS = {
  name: 128,
  url: 2048,
  eventName: 256,
  app: 128,
  secretMin: 16,
  secretMax: 256,
} as const

export const SLUG_PATTERN = '^[a-z0-9_-]{3,64}$'

export const LifecycleKindSchema = text('run.succeeded', 'run.failed', 'run.cancelled', 'step.failed')
export const ReceiverSchemeSchema = text('standard-webhooks', 'github', 'stripe', 'slack', 'hmac-sha256')

const Name = Type.String({ minLength: 1, maxLength: WEBHOOK_BOUNDS.name })
const App = Type.String({ minLength: 1, maxLength: WEBHOOK_BOUNDS.app })
const Url = Type.String({ minLength: 1, maxLength: WEBHOOK_BOUNDS.url })
const EventName = Type.String({ minLength: 1, maxLength: WEBHOOK_BOUNDS.eventName })
const Secret = Type.String({ minLength: WEBHOOK_BOUNDS.secretMin, maxLength: WEBHOOK_BOUNDS.secretMax })
const EventKinds = Type.Array(LifecycleKindSchema, { minItems: 1, maxItems: 4 })

/** The only scheme of outbound webhooks. */
const EndpointScheme = Type.Literal('standard-webhooks')
/** Fields that both update requests accept. */
const SWITCHES = {
  enabled: Type.Optional(Type.Boolean()),
  rotateSecret: Type.Optional(Type.Boolean()),
  revokeOldSecrets: Type.Optional(Type.Boolean()),
}

const endpoint = {
  id: Type.String(),
  name: Type.Optional(Type.String()),
  app: Type.Optional(Type.String()),
  url: Type.String(),
  scheme: EndpointScheme,
  eventKinds: Type.Array(LifecycleKindSchema),
  enabled: Type.Boolean(),
  /** Why the engine disabled it: the endpoint answered 410. */
  disabledReason: Type.Optional(Type.String()),
  createdAt: Timestamp,
  updatedAt: Timestamp,
}
export const WebhookEndpointSchema = Type.Object(endpoint)
/** Reply of a create or an update; `secret` is present only when the call created one. */
export const WebhookEndpointWithSecretSchema = Type.Object({
  ...endpoint,
  secret: Type.Optional(Type.String()),
})

export const CreateWebhookEndpointSchema = Type.Object({
  name: Type.Optional(Name),
  app: Type.Optional(App),
  url: Url,
  scheme: Type.Optional(EndpointScheme),
  eventKinds: EventKinds,
  enabled: Type.Optional(Type.Boolean()),
  secret: Type.Optional(Secret),
})
/** `null` removes an optional field. */
export const UpdateWebhookEndpointSchema = Type.Object({
  name: Type.Optional(Type.Union([Name, Type.Null()])),
  app: Type.Optional(Type.Union([App, Type.Null()])),
  url: Type.Optional(Url),
  scheme: Type.Optional(EndpointScheme),
  eventKinds: Type.Optional(EventKinds),
  ...SWITCHES,
})

export const WebhookEndpointStatsSchema = Type.Object({
  endpointId: Type.String(),
  delivered: Type.Integer({ minimum: 0 }),
  succeeded: Type.Integer({ minimum: 0 }),
  failed: Type.Integer({ minimum: 0 }),
  lastDelivery: Type.Optional(Timestamp),
})

const receiver = {
  id: Type.String(),
  name: Type.Optional(Type.String()),
  app: Type.Optional(Type.String()),
  slug: Type.String(),
  eventName: Type.String(),
  targetApp: Type.Optional(Type.String()),
  scheme: ReceiverSchemeSchema,
  enabled: Type.Boolean(),
  createdAt: Timestamp,
  updatedAt: Timestamp,
}
export const WebhookReceiverSchema = Type.Object(receiver)
export const WebhookReceiverWithSecretSchema = Type.Object({
  ...receiver,
  secret: Type.Optional(Type.String()),
})

export const CreateWebhookReceiverSchema = Type.Object({
  name: Type.Optional(Name),
  app: Type.Optional(App),
  eventName: EventName,
  targetApp: Type.Optional(App),
  slug: Type.Optional(Type.String({ pattern: SLUG_PATTERN })),
  scheme: Type.Optional(ReceiverSchemeSchema),
  enabled: Type.Optional(Type.Boolean()),
  secret: Type.Optional(Secret),
})
/** `null` removes an optional field. */
export const UpdateWebhookReceiverSchema = Type.Object({
  name: Type.Optional(Type.Union([Name, Type.Null()])),
  app: Type.Optional(Type.Union([App, Type.Null()])),
  eventName: Type.Optional(EventName),
  targetApp: Type.Optional(Type.Union([App, Type.Null()])),
  ...SWITCHES,
})

/** Reply of `POST /webhooks/{slug}`, except to a handshake of the provider ({@link WebhookHandshakeSchema}). */
export const ReceivedWebhookSchema = Type.Object({
  eventId: Type.Optional(Type.String()),
  deduped: Type.Optional(Type.Boolean()),
})

/** Reply to a handshake of the provider, in the form that the provider expects. */
export const WebhookHandshakeSchema = Type.Object({ challenge: Type.Optional(Type.String()) })

export const DeliveryStatusSchema = text('pending', 'delivering', 'succeeded', 'failed', 'exhausted', 'dead')
export const DeliveryKindSchema = text(
  'run.succeeded',
  'run.failed',
  'run.cancelled',
  'step.failed',
  'custom',
)
export const DeliveryOutcomeSchema = text('succeeded', 'http_error', 'timeout', 'connection_error', 'skipped')

const delivery = {
  id: Type.String(),
  app: Type.String(),
  endpointId: Type.Optional(Type.String()),
  url: Type.String(),
  eventKind: DeliveryKindSchema,
  sourceRunId: Type.Optional(Type.String()),
  payload: Type.Optional(Type.Unknown()),
  status: DeliveryStatusSchema,
  attemptCount: Type.Integer({ minimum: 0 }),
  maxAttempts: Type.Integer({ minimum: 1 }),
  lastStatusCode: Type.Optional(Type.Integer()),
  nextAttemptAt: Type.Optional(Timestamp),
  createdAt: Timestamp,
  updatedAt: Timestamp,
}
export const WebhookDeliverySchema = Type.Object(delivery)

export const DeliveryAttemptSchema = Type.Object({
  id: Type.String(),
  attempt: Type.Integer({ minimum: 1 }),
  outcome: DeliveryOutcomeSchema,
  statusCode: Type.Optional(Type.Integer()),
  responseSnippet: Type.Optional(Type.String()),
  error: Type.Optional(Type.String()),
  durationMs: Type.Integer({ minimum: 0 }),
  createdAt: Timestamp,
})
export const WebhookDeliveryDetailSchema = Type.Object({
  ...delivery,
  attempts: Type.Array(DeliveryAttemptSchema),
})
