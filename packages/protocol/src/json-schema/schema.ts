// The type of a JSON Schema, draft 2020-12, as a registration may carry it.

/** A JSON Schema: an object of keywords, `true` for any value, `false` for none. */
export type Schema = boolean | JsonSchemaObject

/** The keywords that count. Others are annotations. */
export interface JsonSchemaObject {
  $ref?: string
  $defs?: Record<string, Schema>
  type?: string | string[]
  enum?: unknown[]
  const?: unknown
  minLength?: number
  maxLength?: number
  pattern?: string
  minimum?: number
  maximum?: number
  exclusiveMinimum?: number
  exclusiveMaximum?: number
  multipleOf?: number
  minItems?: number
  maxItems?: number
  uniqueItems?: boolean
  prefixItems?: Schema[]
  items?: Schema
  contains?: Schema
  minContains?: number
  maxContains?: number
  minProperties?: number
  maxProperties?: number
  required?: string[]
  properties?: Record<string, Schema>
  patternProperties?: Record<string, Schema>
  additionalProperties?: Schema
  propertyNames?: Schema
  dependentRequired?: Record<string, string[]>
  dependentSchemas?: Record<string, Schema>
  allOf?: Schema[]
  anyOf?: Schema[]
  oneOf?: Schema[]
  not?: Schema
  if?: Schema
  then?: Schema
  else?: Schema
  title?: string
  description?: string
  default?: unknown
  format?: string
}

/** Whether the value is a JSON object. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The type of a value, as `type` names it. */
export function kindOf(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}
