// Collects the schemas of the HTTP API, one file per noun, and adds those of error bodies and probes.

import Type from 'typebox'
import { optionalFlag, text } from '../wire/schema-parts.ts'

export { TriggeredSchema } from '../wire/triggered-schema.ts'
export * from './admin-schema.ts'
export * from './bulk-schema.ts'
export * from './control-schema.ts'
export * from './error-group-schema.ts'
export * from './event-schema.ts'
export * from './event-why-schema.ts'
export * from './limit-schema.ts'
export * from './pass-schema.ts'
export * from './registry-schema.ts'
export * from './run-schema.ts'
export * from './run-streams/run-stream-schema.ts'
export * from './schedule-schema.ts'
export * from './statistics-schema.ts'
export * from './step-schema.ts'
export * from './stream-schema.ts'
export * from './tree-schema.ts'
export * from './webhook-schema.ts'

export const ErrorBodySchema = Type.Object({
  error: Type.Object({
    code: Type.String(),
    message: Type.String(),
    details: Type.Optional(Type.Unknown()),
    requestId: Type.String(),
  }),
})

export const HealthSchema = Type.Object({ status: Type.Literal('ok') })
export const ReadinessSchema = Type.Object({
  status: text('ready', 'not_ready'),
  checks: Type.Record(Type.String(), text('ok', 'unavailable')),
  draining: optionalFlag(),
  held: optionalFlag(),
})
