// Schemas of the flow-control policies that a workflow may register (`docs/flow-control.md`). Durations are
// milliseconds or a text such as "30s"; every `key`, `if` and `priority` is a CEL expression over `event`.

import Type from 'typebox'
import { DURATION_CHARS_MAX, EXPRESSION_CHARS_MAX, NAME_CHARS_MAX } from './bounds.ts'
import type { Duration } from './duration.ts'
import { EventMatchSchema } from './match-schema.ts'
import { name, text } from './schema-parts.ts'

export const DurationSchema = Type.Unsafe<Duration>(
  Type.Union([Type.Number({ minimum: 0 }), Type.String({ maxLength: DURATION_CHARS_MAX })]),
)

const Expression = name(EXPRESSION_CHARS_MAX)
const Key = Type.Optional(Expression)
const Limit = Type.Integer({ minimum: 1, maximum: 1_000_000 })

/** Limit of simultaneous runs per key. */
const ConcurrencySchema = Type.Object({
  limit: Limit,
  key: Key,
  scope: Type.Optional(text('workflow', 'app', 'namespace')),
  // `run`: the run keeps the slot until it ends.
  hold: Type.Optional(text('pass', 'run')),
})
/** Maximum number of concurrency limits of one workflow. */
const CONCURRENCY_MAX = 3

/** Limit of starts per period and key: runs above it wait. */
const ThrottleSchema = Type.Object({
  limit: Limit,
  period: Type.Optional(DurationSchema),
  periodMs: Type.Optional(Type.Number({ minimum: 1 })),
  burst: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000 })),
  key: Key,
})

/** Limit of starts per period and key: events above it are dropped. */
const RateLimitSchema = Type.Object({ limit: Limit, period: DurationSchema, key: Key })

/** One run for a burst of events, started `period` after the last event, or at most `timeout` after the first. */
const DebounceSchema = Type.Object({
  period: DurationSchema,
  key: Key,
  timeout: Type.Optional(DurationSchema),
  mode: Type.Optional(text('last', 'first', 'all')),
})

/** One run for `maxSize` events, or for those that arrived within `timeout` of the first. */
const BatchSchema = Type.Object({
  maxSize: Type.Integer({ minimum: 1, maximum: 1000 }),
  timeout: DurationSchema,
  key: Key,
})

/** One live run per key: a second run is skipped, or cancels the first, or its event is for the first. */
const SingletonSchema = Type.Object({ mode: text('skip', 'cancel', 'deliver'), key: Key })

/** One run per key within `ttl`. */
const IdempotencySchema = Type.Object({ key: Expression, ttl: Type.Optional(DurationSchema) })

const TimeoutsSchema = Type.Object({
  queue: Type.Optional(DurationSchema),
  run: Type.Optional(DurationSchema),
  invoke: Type.Optional(DurationSchema),
})

/** Keys that take turns where a concurrency limit or a throttle holds runs back; `weight` is a key's share. */
const FairnessSchema = Type.Object({ key: Expression, weight: Type.Optional(Expression) })

/**
 * Events that cancel the run. In `if`, `event` is the run's own event and `async` the arriving one. Events later than `timeout` after
 * the run's creation do not cancel it.
 */
const CancelOnSchema = Type.Object({
  event: name(NAME_CHARS_MAX),
  if: Type.Optional(Expression),
  match: Type.Optional(EventMatchSchema),
  timeout: Type.Optional(DurationSchema),
})

/** The flow-control members of a workflow's registration. An empty list means no policy. */
export const flowControlMembers = {
  concurrency: Type.Optional(
    Type.Union([ConcurrencySchema, Type.Array(ConcurrencySchema, { maxItems: CONCURRENCY_MAX })]),
  ),
  throttle: Type.Optional(ThrottleSchema),
  rateLimit: Type.Optional(RateLimitSchema),
  debounce: Type.Optional(DebounceSchema),
  batch: Type.Optional(BatchSchema),
  singleton: Type.Optional(SingletonSchema),
  idempotency: Type.Optional(IdempotencySchema),
  priority: Type.Optional(Expression),
  fairness: Type.Optional(FairnessSchema),
  timeouts: Type.Optional(TimeoutsSchema),
  cancelOn: Type.Optional(Type.Array(CancelOnSchema, { maxItems: 20 })),
}
