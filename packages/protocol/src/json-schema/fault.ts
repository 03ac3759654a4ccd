// Checks a JSON Schema itself before it is kept: its size, the types of its keywords, and that it refers to nothing outside of itself.
// Pure. Used by the engine at registration.

import { isObject } from './schema.ts'
import { referred } from './validate.ts'

/** Longest schema, in characters of its JSON. */
export const SCHEMA_CHARS_MAX = 32 * 1024
const DIALECT = 'https://json-schema.org/draft/2020-12/schema'
const DEPTH_MAX = 50
const TYPES = ['string', 'number', 'integer', 'boolean', 'object', 'array', 'null']

type Check = (value: unknown) => string | undefined

const isCount: Check = value =>
  Number.isInteger(value) && (value as number) >= 0 ? undefined : 'must be a whole number'
const isNumber: Check = value => (typeof value === 'number' ? undefined : 'must be a number')
const isText: Check = value => (typeof value === 'string' ? undefined : 'must be a text')
const isList: Check = value => (Array.isArray(value) ? undefined : 'must be a list')
const isTextList: Check = value =>
  Array.isArray(value) && value.every(each => typeof each === 'string') ? undefined : 'must be a list of texts'

/** Keywords with a plain value. */
const PLAIN: Readonly<Record<string, Check>> = {
  type: value =>
    [value].flat().every(one => TYPES.includes(one as string)) ? undefined : `must be one of ${TYPES.join(', ')}`,
  enum: isList,
  required: isTextList,
  uniqueItems: value => (typeof value === 'boolean' ? undefined : 'must be true or false'),
  multipleOf: value => (typeof value === 'number' && value > 0 ? undefined : 'must be a number over 0'),
  dependentRequired: value =>
    isObject(value) && Object.values(value).every(each => isTextList(each) === undefined)
      ? undefined
      : 'must be an object of lists of texts',
  ...Object.fromEntries(['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'].map(name => [name, isNumber])),
  ...Object.fromEntries(
    'minLength maxLength minItems maxItems minContains maxContains minProperties maxProperties'
      .split(' ')
      .map(name => [name, isCount]),
  ),
  ...Object.fromEntries(['$ref', 'pattern', 'title', 'description', 'format'].map(name => [name, isText])),
}

/** Keywords that contain schemas: one, a list of them, or an object of them. */
const ONE = 'items contains additionalProperties propertyNames not if then else'.split(' ')
const LISTS = ['prefixItems', 'allOf', 'anyOf', 'oneOf']
const OBJECTS = ['$defs', 'properties', 'patternProperties', 'dependentSchemas']
/** Keywords with an effect that is not supported: a schema that has one would accept what its author refuses. */
const UNSUPPORTED: Readonly<Record<string, string>> = {
  $dynamicRef: 'write $ref',
  $dynamicAnchor: 'write $ref with a JSON pointer',
  $anchor: 'write $ref with a JSON pointer',
  $recursiveRef: 'write $ref',
  unevaluatedProperties: 'write additionalProperties',
  unevaluatedItems: 'write items',
  additionalItems: 'write prefixItems and items',
  dependencies: 'write dependentRequired or dependentSchemas',
  definitions: 'write $defs',
}

/** A fault of a schema: where, as a path from its root, and what. */
export interface SchemaFault {
  path: string
  problem: string
}

/** The first fault of a schema; undefined if there is none. `patternFault` says what is wrong with a pattern. */
export function schemaFault(
  root: unknown,
  patternFault: (pattern: string) => string | undefined,
): SchemaFault | undefined {
  if (!isObject(root)) return { path: '', problem: 'must be an object' }
  if (JSON.stringify(root).length > SCHEMA_CHARS_MAX)
    return { path: '', problem: `must have at most ${SCHEMA_CHARS_MAX} characters as JSON` }
  if (root.$schema !== undefined && root.$schema !== DIALECT) return { path: '.$schema', problem: `must be ${DIALECT}` }
  return faultIn(root, { root, path: '', depth: 0, patternFault })
}

interface Place {
  root: Record<string, unknown>
  path: string
  depth: number
  patternFault: (pattern: string) => string | undefined
}

function faultIn(schema: unknown, place: Place): SchemaFault | undefined {
  const { path, depth } = place
  if (typeof schema === 'boolean') return undefined
  if (!isObject(schema)) return { path, problem: 'must be a schema: an object, true or false' }
  if (depth > DEPTH_MAX) return { path, problem: `must not nest deeper than ${DEPTH_MAX} schemas` }
  const at = (name: string, problem: string | undefined) =>
    problem === undefined ? [] : [{ path: `${path}.${name}`, problem }]
  for (const [name, value] of Object.entries(schema)) {
    const [fault] = [
      ...at(name, Object.hasOwn(UNSUPPORTED, name) ? `is not supported: ${UNSUPPORTED[name]}` : undefined),
      ...at(name, Object.hasOwn(PLAIN, name) ? PLAIN[name]?.(value) : undefined),
      ...at(name, name === '$ref' ? refFault(value as string, place.root) : undefined),
      ...at(name, name === 'pattern' ? place.patternFault(value as string) : undefined),
      ...insideFault(name, value, place),
    ]
    if (fault) return fault
  }
  return undefined
}

function refFault($ref: string, root: Record<string, unknown>): string | undefined {
  if (!$ref.startsWith('#')) return 'must stay inside the schema: # or #/…'
  try {
    return referred(root as never, $ref) === undefined ? 'leads nowhere in the schema' : undefined
  } catch {
    return 'is not a JSON pointer'
  }
}

function insideFault(name: string, value: unknown, place: Place): SchemaFault[] {
  const path = `${place.path}.${name}`
  const inner = (schema: unknown, key: string) => faultIn(schema, { ...place, path: key, depth: place.depth + 1 })
  if (ONE.includes(name)) return [inner(value, path) ?? []].flat()
  if (LISTS.includes(name)) {
    if (!Array.isArray(value)) return [{ path, problem: 'must be a list of schemas' }]
    return value.flatMap((each, i) => inner(each, `${path}[${i}]`) ?? [])
  }
  if (!OBJECTS.includes(name)) return []
  if (!isObject(value)) return [{ path, problem: 'must be an object of schemas' }]
  return Object.entries(value).flatMap(([key, each]) => {
    const problem = name === 'patternProperties' ? place.patternFault(key) : undefined
    const inside = `${path}.${key.slice(0, 64)}`
    return problem === undefined ? (inner(each, inside) ?? []) : [{ path: inside, problem }]
  })
}
