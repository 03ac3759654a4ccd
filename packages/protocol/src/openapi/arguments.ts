// Schemas of the arguments of operations. Used by document.ts, and by the tools of the MCP server.

import type { TSchema } from 'typebox'
import type { Operation, QueryParam } from '../operations/index.ts'
import { ATTRIBUTE_KEY_CHARS_MAX, ATTRIBUTES_MAX, DURATION_CHARS_MAX } from '../wire/bounds.ts'
import type { JsonSchema } from './schema-names.ts'

/** The key of an attribute, a colon and its value. */
const ATTRIBUTE_PATTERN = `^[A-Za-z0-9_.-]{1,${ATTRIBUTE_KEY_CHARS_MAX}}:`

/** The schema of a query parameter. */
export function parameterSchema(param: QueryParam): JsonSchema {
  const initial = 'default' in param ? { default: param.default } : {}
  switch (param.kind) {
    case 'name':
      return { type: 'string', minLength: 1, maxLength: param.maxLength }
    case 'pattern':
      return { type: 'string', pattern: param.pattern }
    case 'text':
      return { type: 'string', maxLength: param.maxLength }
    case 'enum':
      return { type: 'string', enum: param.values, ...initial }
    case 'enums':
      return { type: 'array', items: { type: 'string', enum: param.values }, minItems: 1 }
    case 'names': {
      const items = { type: 'string', minLength: 1, maxLength: param.maxLength }
      return { type: 'array', items, minItems: 1, maxItems: param.maxItems }
    }
    case 'attributes':
      return { type: 'array', items: { type: 'string', pattern: ATTRIBUTE_PATTERN }, maxItems: ATTRIBUTES_MAX }
    case 'integer':
      return { type: 'integer', minimum: param.minimum, maximum: param.maximum, ...initial }
    case 'timestamp':
      return { type: 'string', format: 'date-time' }
    case 'duration':
      return { type: 'string', maxLength: DURATION_CHARS_MAX, default: String(param.default) }
    case 'flag':
      return { type: 'string', enum: ['0', '1'], default: '0' }
  }
}

/** Returns the schema without the parts that JSON cannot express. */
export function plain(schema: TSchema): JsonSchema {
  return JSON.parse(JSON.stringify(schema))
}

/**
 * Everything that an operation takes, as members of one object: the placeholders of its path, the parameters of its query and the
 * members of its body. Flags are booleans. `defaults` replace the defaults of the operation.
 */
export function argumentSchema(operation: Operation, defaults: Readonly<Record<string, unknown>> = {}): JsonSchema {
  const { path, query = {}, body } = operation
  const ofPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
  const ofBody = body ? plain(body.schema) : {}
  const members: Record<string, JsonSchema> = {
    ...Object.fromEntries(ofPath.map(name => [name, { type: 'string', minLength: 1 }])),
    ...Object.fromEntries(Object.entries(query).map(([name, param]) => [name, argument(param)])),
    ...(ofBody.properties as Record<string, JsonSchema> | undefined),
  }
  for (const [name, value] of Object.entries(defaults)) members[name] = { ...members[name], default: value }
  const ofQuery = Object.entries(query).flatMap(([name, { required }]) => (required ? [name] : []))
  const required = [...ofPath, ...ofQuery, ...((ofBody.required as string[] | undefined) ?? [])]
  return { type: 'object', properties: members, required, additionalProperties: false }
}

function argument(param: QueryParam): JsonSchema {
  const description = param.description.replace(/\[([^\]]+)\]\([^)]*\)/g, '$1')
  const schema = param.kind === 'flag' ? { type: 'boolean', default: false } : parameterSchema(param)
  return { ...schema, description }
}
