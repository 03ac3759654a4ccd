// Schemas of the limits that steps of an app share (`docs/steps.md#limits-that-steps-share`): in a registration, and in the opcode
// of a step that waits for its turn.

import Type from 'typebox'
import { KEY_CHARS_MAX, STEP_LIMIT_NAME_CHARS_MAX, STEP_LIMIT_STARTS_MAX, STEP_LIMITS_MAX } from './bounds.ts'
import { DurationSchema } from './flow-control-schema.ts'
import { name } from './schema-parts.ts'

const StepLimitSchema = Type.Object({
  limit: Type.Integer({ minimum: 1, maximum: STEP_LIMIT_STARTS_MAX }),
  period: DurationSchema,
})

/** Checked further when they are registered: the names, and the bounds of the period. */
export const StepLimitsSchema = Type.Record(Type.String(), StepLimitSchema, {
  maxProperties: STEP_LIMITS_MAX,
  description: 'Limits that steps share, by name: at most `limit` of them start in any `period`.',
})

/** The members of the opcode of a step that waits for its turn. */
export const turnMembers = {
  limit: name(STEP_LIMIT_NAME_CHARS_MAX),
  key: Type.Optional(name(KEY_CHARS_MAX)),
}
