// Schemas of passes: the calls that a run makes to its runners.

import Type from 'typebox'
import { text, timestamp } from '../wire/schema-parts.ts'
import { RunErrorSchema } from './run-schema.ts'
import { StepStatusSchema } from './step-schema.ts'
import { PASS_OUTCOMES } from './values.ts'

export const PassRecordSchema = Type.Object({
  pass: Type.Integer({ minimum: 1, description: 'Number of the pass; ascending within a run, with gaps' }),
  runner: Type.String({ description: 'The runner that it was sent to' }),
  sentAt: timestamp('When it was sent'),
  answeredAt: Type.Optional(timestamp('When the engine stored the last that it reported')),
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
    { description: 'What it reported. The status is that of the step now, or `retrying` for an attempt that failed' },
  ),
  error: Type.Optional(RunErrorSchema),
})
