// Schemas of the attributes of a run, from a registration, an event or a handler (`docs/concepts.md#attributes`).

import Type from 'typebox'
import { ATTRIBUTE_KEY_PATTERN, ATTRIBUTE_VALUE_CHARS_MAX, ATTRIBUTES_MAX, EXPRESSION_CHARS_MAX } from './bounds.ts'
import { name } from './schema-parts.ts'

const Key = Type.String({ pattern: ATTRIBUTE_KEY_PATTERN })
const bounds = { maxProperties: ATTRIBUTES_MAX, additionalProperties: false } as const

/** Beyond these, JSON's numbers lose digits in most programs: two customers would become one. */
const Exact = Type.Number({ minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER })
const values = [Type.String({ maxLength: ATTRIBUTE_VALUE_CHARS_MAX }), Exact, Type.Boolean()] as const

export const AttributesSchema = Type.Record(Key, Type.Union([...values]), {
  ...bounds,
  description: 'Facts about the run by which runs are found: strings, numbers up to 2^53 - 1 and booleans',
})

/** Attributes to set; null removes one. */
export const AttributeChangesSchema = Type.Record(Key, Type.Union([...values, Type.Null()]), {
  ...bounds,
  // One answer may replace all attributes with others.
  maxProperties: 2 * ATTRIBUTES_MAX,
})

/** The members of a registration that give a run its first attributes. */
export const attributeMembers = {
  attributes: Type.Optional(
    Type.Record(Key, name(EXPRESSION_CHARS_MAX), {
      ...bounds,
      description: 'First attributes of a run: each a CEL expression over its `event`',
    }),
  ),
  inheritAttributes: Type.Optional(
    Type.Array(Key, {
      maxItems: ATTRIBUTES_MAX,
      description: 'Attributes that a run of the workflow takes from the run that started it as a child',
    }),
  ),
}
