// The frames of `GET /stream`, which carries what several other streams and lists show.

import Type from 'typebox'
import { EventFrameSchema } from './event-schema.ts'
import { TimelineFrameSchema } from './run-schema.ts'
import { WebhookDeliverySchema } from './webhook-schema.ts'

const { payload: _, ...delivery } = WebhookDeliverySchema.properties

/** A new or changed delivery. */
export const DeliveryFrameSchema = Type.Object({ kind: Type.Literal('delivery'), ...delivery })

/** One frame of `GET /stream`. */
export const StreamFrameSchema = Type.Union([...TimelineFrameSchema.anyOf, EventFrameSchema, DeliveryFrameSchema])
