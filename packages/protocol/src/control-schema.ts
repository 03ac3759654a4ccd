// Schemas of control actions: what they take, what they answer, and the audit log (contract §2.10, §4.2).

import Type from 'typebox'
import { RunStatusSchema } from './run-schema.ts'
import { Timestamp, text } from './schema-parts.ts'

export const ReplayRequestSchema = Type.Object({
  /** Replaces the input of the new run, `null` included; absent copies the source's. */
  input: Type.Optional(
    Type.Unknown({ description: 'Input of the new run, `null` included; absent copies the old one' }),
  ),
})

/** `step` is a step's name (with `:n` for repeats), else its hashed id. */
export const RetryFromStepRequestSchema = Type.Object({
  step: Type.String({ minLength: 1, description: "A step's name, with `:n` for repeats, or its hashed id" }),
})

/** One of the members at least. */
export const BulkReplayRequestSchema = Type.Object({
  app: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
  workflow: Type.Optional(Type.String({ minLength: 1, maxLength: 256 })),
  status: Type.Optional(RunStatusSchema),
  runType: Type.Optional(text('event', 'cron')),
  since: Type.Optional(Timestamp),
})

/** Counts of runs; `capped` when more finished ones matched than were tried. */
export const BulkReplayReplySchema = Type.Object({
  matched: Type.Integer({ minimum: 0, description: 'Runs that match the filter' }),
  replayed: Type.Integer({ minimum: 0, description: 'Forked' }),
  skipped: Type.Integer({ minimum: 0, description: 'Not finished, so left alone' }),
  failed: Type.Integer({ minimum: 0, description: 'Could not be forked' }),
  capped: Type.Boolean({
    description: 'More finished runs match than were tried: narrow the filter and call again',
  }),
})

/** Contract §2.10. */
export const ControlActionSchema = Type.Object({
  id: Type.String(),
  action: text('cancel', 'pause', 'resume', 'replay', 'retry_from_step', 'bulk_replay'),
  runId: Type.Optional(Type.String({ description: 'The run acted on' })),
  newRunId: Type.Optional(Type.String({ description: 'The run forked from it' })),
  actor: Type.Optional(Type.String({ description: 'Label of the API key behind it' })),
  detail: Type.Optional(
    Type.Unknown({ description: 'The step of a retry; filter and counts of a bulk replay' }),
  ),
  createdAt: Timestamp,
})
