// Schemas of webhooks: outbound endpoints and deliveries, inbound receivers. No record contains a signing secret: the
// reply that creates a secret shows it once.

import Type from 'typebox'
import { APP_NAME_CHARS_MAX, NAME_CHARS_MAX, URL_CHARS_MAX } from '../wire/bounds.ts'
import { count, countOrMore, name, optionalFlag, optionalText, text, timestamp } from '../wire/schema-parts.ts'
import { DELIVERY_KINDS, DELIVERY_STATUSES, LIFECYCLE_KINDS, RECEIVER_SCHEMES } from './values.ts'

const LABEL_CHARS_MAX = 128
/** A shorter secret would be easy to guess. */
const SECRET_CHARS_MIN = 16
const SECRET_CHARS_MAX = 256
/** Headers that a receiver keeps. */
const KEPT_HEADERS_MAX = 16
const ID_CHARS_MAX = 68
const SLUG_PATTERN = '^[a-z0-9_-]{3,64}$'

const LifecycleKindSchema = text(...LIFECYCLE_KINDS)
const ReceiverSchemeSchema = text(...RECEIVER_SCHEMES)

const Name = name(LABEL_CHARS_MAX)
const App = name(APP_NAME_CHARS_MAX)
const Url = name(URL_CHARS_MAX)
const EventName = name(NAME_CHARS_MAX)
const Secret = Type.String({ minLength: SECRET_CHARS_MIN, maxLength: SECRET_CHARS_MAX })
const KeepHeaders = Type.Array(Type.String({ pattern: '^[A-Za-z0-9-]{1,64}$' }), {
  maxItems: KEPT_HEADERS_MAX,
  description: "Headers of a post that are kept: the event's data is then `{headers, body}`",
})
const EventKinds = Type.Array(LifecycleKindSchema, { minItems: 1, maxItems: LIFECYCLE_KINDS.length })

/** The only scheme of outbound webhooks. */
const EndpointScheme = Type.Literal('standard-webhooks')
/** Fields that both update requests accept. */
const SWITCHES = {
  enabled: optionalFlag(),
  rotateSecret: optionalFlag(),
  revokeOldSecrets: optionalFlag(),
}

/** A field of endpoints and receivers, after a rotation. */
const oldSecretsUntil = Type.Optional(
  timestamp('Until when replaced secrets count besides the current one; absent while it counts alone'),
)

export const WebhookEndpointSchema = Type.Object({
  id: Type.String(),
  name: optionalText(),
  app: optionalText(),
  url: Type.String(),
  scheme: EndpointScheme,
  eventKinds: Type.Array(LifecycleKindSchema),
  enabled: Type.Boolean(),
  /** Why the engine disabled it: the endpoint answered 410. */
  disabledReason: optionalText(),
  oldSecretsUntil,
  createdAt: timestamp(),
  updatedAt: timestamp(),
})
/** Reply of a create or an update; `secret` is present only when the call created one. */
export const WebhookEndpointWithSecretSchema = Type.Object({
  ...WebhookEndpointSchema.properties,
  secret: optionalText(),
})

export const CreateWebhookEndpointSchema = Type.Object({
  name: Type.Optional(Name),
  app: Type.Optional(App),
  url: Url,
  scheme: Type.Optional(EndpointScheme),
  eventKinds: EventKinds,
  enabled: optionalFlag(),
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
  delivered: count(),
  succeeded: count(),
  failed: count(),
  lastDelivery: Type.Optional(timestamp()),
})

export const WebhookReceiverSchema = Type.Object({
  id: Type.String(),
  name: optionalText(),
  app: optionalText(),
  slug: Type.String(),
  eventName: Type.String(),
  targetApp: optionalText(),
  scheme: ReceiverSchemeSchema,
  keepHeaders: Type.Optional(Type.Array(Type.String())),
  enabled: Type.Boolean(),
  oldSecretsUntil,
  lastAcceptedAt: Type.Optional(
    timestamp(
      'Its last post with a right signature: an event, a repeat of one, or a handshake. Other engines know it within a minute',
    ),
  ),
  createdAt: timestamp(),
  updatedAt: timestamp(),
})
export const WebhookReceiverWithSecretSchema = Type.Object({
  ...WebhookReceiverSchema.properties,
  secret: optionalText(),
})

export const CreateWebhookReceiverSchema = Type.Object({
  name: Type.Optional(Name),
  app: Type.Optional(App),
  eventName: EventName,
  targetApp: Type.Optional(App),
  slug: Type.Optional(Type.String({ pattern: SLUG_PATTERN })),
  scheme: Type.Optional(ReceiverSchemeSchema),
  keepHeaders: Type.Optional(KeepHeaders),
  enabled: optionalFlag(),
  secret: Type.Optional(Secret),
})
/** `null` removes an optional field. */
export const UpdateWebhookReceiverSchema = Type.Object({
  name: Type.Optional(Type.Union([Name, Type.Null()])),
  app: Type.Optional(Type.Union([App, Type.Null()])),
  eventName: Type.Optional(EventName),
  targetApp: Type.Optional(Type.Union([App, Type.Null()])),
  keepHeaders: Type.Optional(Type.Union([KeepHeaders, Type.Null()])),
  ...SWITCHES,
})

/** Why a receiver refused a post: docs/webhooks.md#refused-posts says what each means. */
const REFUSAL_REASONS = [
  'unsigned',
  'other_scheme',
  'wrong_signature',
  'stale',
  'too_large',
  'encoded',
  'invalid_body',
  'disabled',
] as const

/** A post that a receiver refused: without its body and without header values. */
export const WebhookRefusalSchema = Type.Object({
  at: timestamp('When it came'),
  reason: text(...REFUSAL_REASONS),
  offSeconds: Type.Optional(
    Type.Integer({
      description: "For `stale`: how old the signed time was; negative if it was ahead of the engine's clock",
    }),
  ),
  signedAs: Type.Optional(
    Type.Enum([...RECEIVER_SCHEMES], { description: 'For `other_scheme`: the scheme whose headers the post has' }),
  ),
  sizeBytes: count('The length of the body, as far as it was announced or read'),
  address: optionalText('The address that the connection came from'),
})

/** Reply of `POST /webhooks/{slug}`, except to a handshake of the provider ({@link WebhookHandshakeSchema}). */
export const ReceivedWebhookSchema = Type.Object({ eventId: optionalText(), deduped: optionalFlag() })

/** Reply to a handshake of the provider, in the form that the provider expects. */
export const WebhookHandshakeSchema = Type.Object({ challenge: optionalText() })

export const WebhookDeliverySchema = Type.Object({
  id: Type.String(),
  app: Type.String(),
  endpointId: optionalText(),
  url: Type.String(),
  eventKind: text(...DELIVERY_KINDS),
  sourceRunId: optionalText(),
  payload: Type.Optional(Type.Unknown()),
  status: text(...DELIVERY_STATUSES),
  attemptCount: count(),
  maxAttempts: Type.Integer({ minimum: 1 }),
  lastStatusCode: Type.Optional(Type.Integer()),
  nextAttemptAt: Type.Optional(timestamp()),
  createdAt: timestamp(),
  updatedAt: timestamp(),
})

export const DeliveryAttemptSchema = Type.Object({
  id: Type.String(),
  attempt: Type.Integer({ minimum: 1 }),
  outcome: text('succeeded', 'http_error', 'timeout', 'connection_error', 'skipped'),
  statusCode: Type.Optional(Type.Integer()),
  responseSnippet: optionalText(),
  error: optionalText(),
  durationMs: count(),
  requestHeaders: Type.Optional(
    Type.Record(Type.String(), Type.String(), {
      description: 'The headers of the post, each signature cut after 8 characters; absent when nothing was posted',
    }),
  ),
  createdAt: timestamp(),
})
export const WebhookDeliveryDetailSchema = Type.Object({
  ...WebhookDeliverySchema.properties,
  attempts: Type.Array(DeliveryAttemptSchema),
})

const DeliveryFilterSchema = Type.Object({
  status: Type.Optional(text(...DELIVERY_STATUSES)),
  app: Type.Optional(App),
  endpointId: Type.Optional(name(ID_CHARS_MAX)),
  eventKind: Type.Optional(text(...DELIVERY_KINDS)),
  sourceRunId: Type.Optional(name(ID_CHARS_MAX)),
  since: Type.Optional(timestamp('Only deliveries created at or after this time')),
  until: Type.Optional(timestamp('Only deliveries created before this time')),
})
export const RedeliverWebhooksSchema = Type.Object({
  filter: DeliveryFilterSchema,
  dryRun: optionalFlag('Counts, and queues nothing'),
})
export const RedeliveredWebhooksSchema = Type.Object({
  matched: count('Deliveries that match the filter, up to 1,000'),
  queued: count('Deliveries that are queued again; in a dry run, that would be'),
  skipped: count('Deliveries that were under way, or changed in the meantime'),
  capped: Type.Boolean({ description: 'More than 1,000 match: the newest 1,000 were taken' }),
})

type DeliveryStatus = (typeof DELIVERY_STATUSES)[number]
const COUNTED = countOrMore('As a text such as `4980+` where not all could be looked at')

/** How many deliveries have each status. */
export const WebhookDeliveryFacetsSchema = Type.Object({
  status: Type.Object(
    Object.fromEntries(DELIVERY_STATUSES.map(status => [status, COUNTED])) as Record<DeliveryStatus, typeof COUNTED>,
    { description: 'Deliveries of each status' },
  ),
})

export const WebhookSeriesPointSchema = Type.Object({
  at: timestamp('When the span of time begins, in UTC'),
  succeeded: count('Posts that were answered with 2xx'),
  failed: count('Posts that were answered otherwise, or not at all'),
  p50Ms: Type.Optional(
    Type.Number({
      minimum: 0,
      description: 'Half of the posts took no longer, ±9 %; absent without an answer or timeout',
    }),
  ),
  p95Ms: Type.Optional(Type.Number({ minimum: 0, description: '95 % of them took no longer' })),
})
