// Schemas of apps, runners and workflow definitions (contract §2.5, §2.6).

import Type from 'typebox'
import { Timestamp, timestamp } from './schema-parts.ts'
import { TriggerSchema } from './wire-schema.ts'

export const AppSchema = Type.Object({ name: Type.String(), createdAt: Timestamp })

export const RunnerSchema = Type.Object({
  runnerId: Type.String({ description: 'Its stable id, or its URL when it gave none' }),
  app: Type.String(),
  url: Type.String({ description: 'Where it is invoked; `conn://…` on a socket' }),
  framework: Type.Optional(Type.String({ description: 'Serve adapter' })),
  runtime: Type.Optional(Type.String()),
  language: Type.Optional(Type.String()),
  sdkName: Type.Optional(Type.String()),
  version: Type.Optional(Type.String({ description: 'Of the SDK' })),
  region: Type.Optional(Type.String()),
  keyFingerprint: Type.Optional(
    Type.String({ description: 'First 16 hex digits of the SHA-256 of its signing key' }),
  ),
  keyMatches: Type.Optional(Type.Boolean({ description: 'Whether the engine signs with the same key' })),
  lastSeenAt: timestamp('Last registration or heartbeat'),
  live: Type.Boolean({ description: 'On a socket, or heard of lately' }),
})

export const ScheduleSchema = Type.Object({
  cron: Type.String(),
  timezone: Type.String(),
  nextRunAt: Timestamp,
  lastRunAt: Type.Optional(Timestamp),
  lastRunId: Type.Optional(Type.String()),
})

export const WorkflowSchema = Type.Object({
  name: Type.String(),
  app: Type.String(),
  retry: Type.Object({
    maxAttempts: Type.Integer(),
    initialMs: Type.Number(),
    factor: Type.Number(),
    maxMs: Type.Number(),
    jitter: Type.Number(),
  }),
  triggers: Type.Array(TriggerSchema),
  scheduled: Type.Boolean(),
  schedules: Type.Array(ScheduleSchema),
  flowControl: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  onFailure: Type.Boolean(),
  updatedAt: Timestamp,
})
