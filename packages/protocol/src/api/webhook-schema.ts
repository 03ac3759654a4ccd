// Schemas of webhooks: outbound endpoints and deliveries, inbound receivers. No record contains a signing secret: the
// reply that creates a secret shows it once.

import Type from 'typebox'
import { APP_NAME_CHARS_MAX, NAME_CHARS_MAX, URL_CHARS_MAX } from '../wire/bounds.ts'
import { Timestamp, text } from '../wire/schema-parts.ts'
import { DELIVERY_STATUSES, LIFECYCLE_KINDS, RECEIVER_SCHEMES } from './values.ts'

const LABEL_CHARS_MAX = 128
/** A shorter secret would be easy to guess. */
const SECRET_CHARS_MIN = 16
const SECRET_CHARS_MAX = 256
const SLUG_PATTERN = '^[a-z0-9_-]{3,64}$'

const LifecycleKindSchema = text(...LIFECYCLE_KINDS)
const ReceiverSchemeSchema = text(...RECEIVER_SCHEMES)

const Name = Type.String({ minLength: 1, maxLength: LABEL_CHARS_MAX })
const App = Type.String({ minLength: 1, maxLength: APP_NAME_CHARS_MAX })
const Url = Type.String({ minLength: 1, maxLength: URL_CHARS_MAX })
const EventName = Type.String({ minLength: 1, maxLength: NAME_CHARS_MAX })
const Secret = Type.String({ minLength: SECRET_CHARS_MIN, maxLength: SECRET_CHARS_MAX })
const EventKinds = Type.Array(LifecycleKindSchema, { minItems: 1, maxItems: LIFECYCLE_KINDS.length })

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

const DeliveryStatusSchema = text(...DELIVERY_STATUSES)
const DeliveryKindSchema = text(...LIFECYCLE_KINDS, 'custom')
const DeliveryOutcomeSchema = text('succeeded', 'http_error', 'timeout', 'connection_error', 'skipped')

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
