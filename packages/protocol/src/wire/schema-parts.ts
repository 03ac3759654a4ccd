// Small schemas that the other schema files share. Each takes the description that the OpenAPI document prints.

import Type from 'typebox'
import { DURATION_CHARS_MAX, SIGNAL_NAME_CHARS_MAX, SIGNAL_NAME_PATTERN } from './bounds.ts'
import type { Duration } from './duration.ts'

const described = (description?: string) => (description === undefined ? {} : { description })

/** A text of 1 to `maxLength` characters. */
export const name = (maxLength: number, description?: string) =>
  Type.String({ minLength: 1, maxLength, ...described(description) })
export const timestamp = (description?: string) => Type.String({ format: 'date-time', ...described(description) })
/** Milliseconds, or a text such as "30s". */
export const duration = (description: string) =>
  Type.Unsafe<Duration>(Type.Union([Type.String({ maxLength: DURATION_CHARS_MAX }), Type.Number()], { description }))
export const count = (description?: string) => Type.Integer({ minimum: 0, ...described(description) })
/** A count for each of the names. */
export const counts = (names: readonly string[], description: string) =>
  Type.Object(Object.fromEntries(names.map(name => [name, count()])), { description })
/** A count, or a text with its lower bound. */
export const countOrMore = (description: string) =>
  Type.Union([count(), Type.String({ pattern: '^\\d+\\+$' })], { description })
export const optionalText = (description?: string) => Type.Optional(Type.String(described(description)))
export const optionalFlag = (description?: string) => Type.Optional(Type.Boolean(described(description)))
export const text = <T extends string[]>(...values: readonly [...T]) => Type.Enum<T>(values)

/** The name of a signal or an update. */
export const SignalNameSchema = Type.String({
  pattern: SIGNAL_NAME_PATTERN,
  description: `1 to ${SIGNAL_NAME_CHARS_MAX} letters, digits, _ . : / or -`,
})
