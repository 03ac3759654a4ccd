// Schemas of the passes of a run, and of a bundle: a run with everything that belongs to it, as one document.

import Type from 'typebox'
import { optionalText, text, timestamp } from '../wire/schema-parts.ts'
import { EventRecordSchema } from './event-schema.ts'
import { WorkflowSchema } from './registry-schema.ts'
import { RunErrorSchema, RunLogLineSchema, RunSchema, TimelineFrameSchema } from './run-schema.ts'
import { StepDetailSchema, StepStatusSchema } from './step-schema.ts'

/** The result of a pass: it is under way, it reported steps, the handler returned, it failed, or none of its results counted. */
const PASS_OUTCOMES = ['running', 'steps', 'returned', 'failed', 'none'] as const

export const PassRecordSchema = Type.Object({
  pass: Type.Integer({ minimum: 1, description: 'Number of the pass; ascending within a run, with gaps' }),
  runner: Type.String({ description: 'The runner that it was sent to' }),
  sentAt: timestamp('When it was sent'),
  answeredAt: Type.Optional(timestamp('When the engine stored its last report')),
  outcome: text(...PASS_OUTCOMES),
  attempt: Type.Integer({ minimum: 1, description: 'Attempt of the run that it was sent with' }),
  steps: Type.Array(
    Type.Object({
      index: Type.Integer({ minimum: 0 }),
      id: Type.String({ description: 'Hashed step id' }),
      name: Type.String(),
      attempt: Type.Integer({ minimum: 1 }),
      status: StepStatusSchema,
    }),
    { description: 'What it reported. The status is the current one of the step, or `retrying` for a failed attempt' },
  ),
  error: Type.Optional(RunErrorSchema),
})

const RunnerVersionSchema = Type.Object({
  runnerId: Type.String(),
  sdkName: optionalText(),
  version: optionalText(),
  language: optionalText(),
  runtime: optionalText(),
})

/** A log line of a bundle, whose fields are a payload. */
const BundledLogLineSchema = Type.Object({
  ...RunLogLineSchema.properties,
  fields: Type.Optional(Type.Union([Type.Record(Type.String(), Type.Unknown()), Type.Null()])),
})

export const BundleSchema = Type.Object({
  'perdure-bundle': Type.Literal(1, { description: 'The version of this form' }),
  exportedAt: timestamp('When the bundle was written'),
  payloads: Type.Boolean({ description: 'False: input, results, data and log fields are null' }),
  run: RunSchema,
  event: Type.Optional(EventRecordSchema),
  workflow: Type.Optional(WorkflowSchema),
  versions: Type.Object(
    { engine: Type.String(), runners: Type.Array(RunnerVersionSchema) },
    { description: 'The version of the engine, and of the runners that serve the workflow now' },
  ),
  steps: Type.Optional(Type.Array(StepDetailSchema)),
  timeline: Type.Optional(Type.Array(TimelineFrameSchema, { description: 'Without log lines' })),
  logs: Type.Optional(Type.Array(BundledLogLineSchema)),
  passes: Type.Optional(Type.Array(PassRecordSchema)),
  truncated: Type.Optional(
    Type.Object(
      { section: text('steps', 'timeline', 'logs', 'passes'), reason: text('size', 'unreadable') },
      { description: 'The section that is not whole; the ones after it are missing' },
    ),
  ),
})
