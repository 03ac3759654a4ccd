// Schemas of the flow-control policies a workflow may register (decisions, "Flow control at registration"). Durations
// are milliseconds or a text such as "30s"; every `key`, `if` and `priority` is a CEL expression over `event`.

import Type from 'typebox'
import { text } from './schema-parts.ts'

export const DurationSchema = Type.Union([Type.Number({ minimum: 0 }), Type.String({ maxLength: 32 })])

const Expression = Type.String({ minLength: 1, maxLength: 2000 })
const Key = Type.Optional(Expression)
const Limit = Type.Integer({ minimum: 1, maximum: 1_000_000 })

/** Runs under way at once, per key. */
export const ConcurrencySchema = Type.Object({
  limit: Limit,
  key: Key,
  scope: Type.Optional(text('workflow', 'app', 'namespace')),
})
/** Concurrency limits one workflow may have. */
export const CONCURRENCY_MAX = 3

/** Starts per period, per key: what is over waits. */
export const ThrottleSchema = Type.Object({
  limit: Limit,
  period: Type.Optional(DurationSchema),
  periodMs: Type.Optional(Type.Number({ minimum: 1 })),
  burst: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000 })),
  key: Key,
})

/** Starts per period, per key: what is over is dropped. */
export const RateLimitSchema = Type.Object({ limit: Limit, period: DurationSchema, key: Key })

/** One run for a burst of events, once it has been quiet for `period`, or `timeout` after the first. */
export const DebounceSchema = Type.Object({
  period: DurationSchema,
  key: Key,
  timeout: Type.Optional(DurationSchema),
  mode: Type.Optional(text('last', 'first', 'all')),
})

/** One run for up to `maxSize` events, or what has come `timeout` after the first. */
export const BatchSchema = Type.Object({
  maxSize: Type.Integer({ minimum: 1, maximum: 1000 }),
  timeout: DurationSchema,
  key: Key,
})

/** One live run per key: a second one is skipped, or cancels the first. */
export const SingletonSchema = Type.Object({ mode: text('skip', 'cancel'), key: Key })

/** One run per key within `ttl`. */
export const IdempotencySchema = Type.Object({ key: Expression, ttl: Type.Optional(DurationSchema) })

export const TimeoutsSchema = Type.Object({
  queue: Type.Optional(DurationSchema),
  run: Type.Optional(DurationSchema),
  invoke: Type.Optional(DurationSchema),
})

/** Events that cancel the run; `if` sees the run's own as `event` and the arriving one as `async`. */
export const CancelOnSchema = Type.Object({
  event: Type.String({ minLength: 1, maxLength: 256 }),
  if: Type.Optional(Expression),
})

/** The flow-control members of a workflow's registration; an empty list is none. */
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
  timeouts: Type.Optional(TimeoutsSchema),
  cancelOn: Type.Optional(Type.Array(CancelOnSchema, { maxItems: 20 })),
}
