// Small schemas that the other schema files share.

import Type from 'typebox'

export const Timestamp = Type.String({ format: 'date-time' })
export const timestamp = (description: string) => Type.String({ format: 'date-time', description })
export const DurationMs = Type.Integer({ minimum: 0 })
export const text = <T extends string[]>(...values: readonly [...T]) => Type.Enum<T>(values)
