// The frames of `GET /stream`, which carries the contents of several other streams and lists.

import Type from 'typebox'
import { timestamp } from '../wire/schema-parts.ts'
import { BulkSchema } from './bulk-schema.ts'
import { EventFrameSchema } from './event-schema.ts'
import { GapFrameSchema, TimelineFrameSchema } from './run-schema.ts'
import { RunStreamFrameSchema } from './run-streams/run-stream-schema.ts'
import { WebhookDeliverySchema } from './webhook-schema.ts'

const { payload: _, ...delivery } = WebhookDeliverySchema.properties

/** A new or changed delivery. */
export const DeliveryFrameSchema = Type.Object({ kind: Type.Literal('delivery'), ...delivery })

/** The state of a bulk job, as `GET /bulk/{id}` shows it without its results. */
export const BulkFrameSchema = Type.Object({
  kind: Type.Literal('bulk'),
  ts: timestamp('When the engine read it'),
  ...BulkSchema.properties,
})

/** One frame of `GET /stream`. */
export const StreamFrameSchema = Type.Union([
  ...TimelineFrameSchema.anyOf,
  EventFrameSchema,
  DeliveryFrameSchema,
  BulkFrameSchema,
  RunStreamFrameSchema,
  GapFrameSchema,
])
