// Schemas of apps, runners and workflow definitions, as the API lists them.

import Type from 'typebox'
import { TriggerSchema } from '../wire/schema.ts'
import { optionalFlag, optionalText, text, timestamp } from '../wire/schema-parts.ts'

export const AppSchema = Type.Object({ name: Type.String(), createdAt: timestamp() })

export const RunnerSchema = Type.Object({
  runnerId: Type.String({
    description: 'Stable id of the runner, or its URL when it registered without an id',
  }),
  app: Type.String(),
  url: Type.String({ description: 'Where the engine invokes the runner; `conn://…` for a Connect runner' }),
  framework: optionalText('Serve adapter of the SDK'),
  runtime: optionalText(),
  language: optionalText(),
  sdkName: optionalText(),
  version: optionalText('Version of the SDK'),
  region: optionalText(),
  keyFingerprint: optionalText("First 16 hex digits of the SHA-256 of the runner's signing key"),
  keyMatches: optionalFlag('Whether the engine signs with the same key'),
  lastSeenAt: timestamp('Last registration or heartbeat'),
  live: Type.Boolean({ description: 'Whether the runner has an open socket or a recent heartbeat' }),
})

export const ScheduleSchema = Type.Object({
  cron: Type.String(),
  timezone: Type.String(),
  nextRunAt: timestamp(),
  lastRunAt: Type.Optional(timestamp()),
  lastRunId: optionalText(),
  paused: optionalFlag('It starts no runs until it is resumed'),
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
  handlerRetries: Type.Optional(Type.Integer()),
  whenExhausted: Type.Optional(text('fail', 'pause')),
  updatedAt: timestamp(),
  pausedAt: Type.Optional(timestamp('Since then the workflow starts nothing: new runs stay queued')),
})
